/**
 * Every edge of a machine, with a shortest way to where it begins. Shortest paths alone would miss self-loops and all
 * but one of the edges between two states; what is ignored is an edge too, from a state to itself.
 */
import type { AnyActorLogic, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';
import { adjacencyMapToArray, getAdjacencyMap } from 'xstate/graph';

export interface Edge<TSnapshot, TEvent> {
  /** The events that lead from the initial state to where this edge begins. */
  path: readonly TEvent[];
  event: TEvent;
  from: TSnapshot;
  to: TSnapshot;
}

export interface WalkOptions<TSnapshot, TEvent, TInput> {
  input: TInput;
  /** What could happen in a state. It replaces XState's own list, which knows neither payloads nor reports. */
  events: (state: TSnapshot) => readonly TEvent[];
  /** What tells two states apart. Leave out counters that only grow, or the walk never ends. */
  project: (state: TSnapshot) => string;
}

export function everyEdge<TLogic extends AnyActorLogic>(
  logic: TLogic,
  { input, events, project }: WalkOptions<SnapshotFrom<TLogic>, EventFromLogic<TLogic>, InputFrom<TLogic>>,
): Edge<SnapshotFrom<TLogic>, EventFromLogic<TLogic>>[] {
  const map = getAdjacencyMap<SnapshotFrom<TLogic>, EventFromLogic<TLogic>, InputFrom<TLogic>>(logic, {
    input,
    events,
    serializeState: project,
    serializeEvent: (event) => JSON.stringify(event),
    limit: 100_000,
  });
  // The map is filled breadth first, so the first edge that leads to a state is the end of a shortest way to it.
  const ways = new Map<string, readonly EventFromLogic<TLogic>[]>();
  return adjacencyMapToArray(map).map(({ state: from, event, nextState: to }) => {
    const path = ways.get(project(from)) ?? [];
    ways.set(project(from), path);
    if (!ways.has(project(to))) ways.set(project(to), [...path, event]);
    return { path, event, from, to };
  });
}
