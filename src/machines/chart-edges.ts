/**
 * A machine's states and arrows as plain strings, read from its definition, so that no picture can be out of date.
 *
 * Two levels are shown; what happens deeper is shown on the state around it. No arrow runs between a state and one
 * that is inside it, because some renderers cannot draw it. It is drawn from (or to) each inner state instead.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate';
import { eventLabel } from './event-name.js';

const depth = 2;

export interface ChartState {
  /** `connected.serving` */
  path: string;
  name: string;
  parent: string | undefined;
  children: ChartState[];
  /** The path of the child in which it begins, where children are shown. */
  initial: string | undefined;
  final: boolean;
}

export interface ChartEdge {
  source: string;
  target: string;
  /** What takes it, each with its guard: `stop`, `after startTimeout`, `link.exited [isClean]`. */
  labels: string[];
}

/** The outermost states; each holds its own. */
export function chartStates(machine: AnyStateMachine): ChartState[] {
  return childrenOf(machine.root).map(chartState);
}

function chartState(node: AnyStateNode): ChartState {
  const children = node.path.length < depth ? childrenOf(node) : [];
  return {
    path: pathOf(node),
    name: node.key,
    parent: node.path.length > 1 ? node.path.slice(0, -1).join('.') : undefined,
    children: children.map(chartState),
    initial: children.length > 0 ? initialOf(node) : undefined,
    final: node.type === 'final',
  };
}

/** Arrows only: what stays where it is (an event that is noted or ignored on purpose) has none. */
export function chartEdges(machine: AnyStateMachine): ChartEdge[] {
  const edges = new Map<string, ChartEdge>();
  const visit = (node: AnyStateNode) => {
    for (const transition of [...node.transitions.values()].flat()) {
      for (const target of transition.target ?? []) {
        for (const [source, end] of arrowsOf(shown(node), shown(target), transition.eventType)) {
          const key = `${source}>${end}`;
          const edge = edges.get(key) ?? { source, target: end, labels: [] };
          if (!edge.labels.includes(labelOf(transition))) edge.labels.push(labelOf(transition));
          edges.set(key, edge);
        }
      }
    }
    childrenOf(node).forEach(visit);
  };
  visit(machine.root);
  return [...edges.values()];
}

/** The path of the shown state that is active and has no shown state inside it. */
export function presentPath(value: StateValue, above: readonly string[] = []): string {
  if (typeof value === 'string') return [...above, value].slice(0, depth).join('.');
  const [key, child] = Object.entries(value)[0] ?? ['', ''];
  return presentPath(child ?? '', [...above, key]);
}

export function initialOf(node: AnyStateNode): string {
  const first: AnyStateNode | undefined = node.initial?.target?.[0];
  return first ? pathOf(first) : '';
}

function arrowsOf(source: AnyStateNode, target: AnyStateNode, event: string): [string, string][] {
  const end = contains(target, source) ? initialOf(target) : pathOf(target);
  const stands = contains(source, target) && source.path.length < depth;
  if (!stands) return [[pathOf(source), end]];
  return childrenOf(source)
    .filter((child) => child.type !== 'final' && !handles(child, event))
    .map((child) => [pathOf(child), end]);
}

/** Also of itself, where it shows children: an arrow back to the whole begins it anew. */
function contains(outer: AnyStateNode, inner: AnyStateNode): boolean {
  return (
    outer.path.length < depth &&
    childrenOf(outer).length > 0 &&
    outer.path.every((key, i) => inner.path[i] === key)
  );
}

/** What a state takes without a condition never reaches the one around it. */
function handles(node: AnyStateNode, event: string): boolean {
  return (node.transitions.get(event) ?? []).some((transition) => transition.guard === undefined);
}

function shown(node: AnyStateNode): AnyStateNode {
  return node.path.length > depth && node.parent ? shown(node.parent) : node;
}

function childrenOf(node: AnyStateNode): AnyStateNode[] {
  return Object.values<AnyStateNode>(node.states);
}

function pathOf(node: AnyStateNode): string {
  return node.path.join('.');
}

function labelOf({ eventType, guard }: AnyTransitionDefinition): string {
  const condition = guardLabel(guard);
  return eventLabel(eventType) + (condition && ` [${condition}]`);
}

function guardLabel(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (typeof guard !== 'object' || guard === null || !('type' in guard)) return '';
  const params =
    'params' in guard && typeof guard.params === 'object' ? Object.values(guard.params ?? {}) : [];
  return [guard.type, ...params].join(' ');
}
