/**
 * The root of the herd's actors: one keeper (or, for a transient server, one incarnation) after another is put under
 * it and taken away again. One-for-one: servers are independent, so whatever happens to one child touches no other.
 *
 * | event | meaning |
 * |---|---|
 * | `keep` | a child begins its life here, under an id that was never used before |
 * | `release` | a child has come to its end and is removed; a live one is never released |
 * | `xstate.error.actor.*` | a child broke: it is reported, and the others do not notice |
 *
 * A child that broke would break its parent too, and at the root that ends the process: hence the last line.
 */
import { type AnyActorLogic, type AnyActorRef, assign, createMachine, emit, stopChild } from 'xstate';

export type RootEvent =
  | { type: 'keep'; id: string; logic: AnyActorLogic; input: unknown }
  | { type: 'release'; id: string }
  | { type: `xstate.error.actor.${string}`; error: unknown; actorId: string };

export type RootReport = { type: 'child.broke'; id: string; error: unknown };

interface RootContext {
  /** One map for good: a copy for each child that comes would be work for all that are there. */
  readonly children: Map<string, AnyActorRef>;
}

export const rootMachine = createMachine({
  id: 'herd',
  types: {} as { context: RootContext; events: RootEvent; emitted: RootReport },
  context: () => ({ children: new Map() }),
  on: {
    keep: {
      actions: assign(({ context, event, spawn }) => {
        context.children.set(event.id, spawn(event.logic, { id: event.id, input: event.input }));
        return {};
      }),
    },
    release: {
      actions: [
        stopChild(({ event }) => event.id),
        ({ context, event }) => void context.children.delete(event.id),
      ],
    },
    'xstate.error.actor.*': {
      actions: emit(({ event }) => ({ type: 'child.broke', id: event.actorId, error: event.error })),
    },
  },
});
