import type { CallHandle, CallRequest } from '../../link/calls/call.js';
import type { CallSink } from '../../shared/call-sink.js';

/**
 * `ready`: it takes a call now. `starts`: it starts a process for a call. `tries`: a call waits there for a next try, or it
 * may have become ready since its last report. `refuses`: a person has to act first.
 */
export type Readiness = 'ready' | 'starts' | 'tries' | 'refuses';

/** A node that may take a call of a server: this one, or another one. */
export interface Candidate {
  /** Its name; undefined: this node. */
  readonly node: string | undefined;
  readonly readiness: Readiness;
  /** Calls without an outcome. */
  readonly load: number;
  send(request: CallRequest, sink: CallSink): CallHandle | undefined;
  /** One of its calls has its outcome there. `isRefused`: the node did not take it. */
  ended(isRefused: boolean): void;
}

const RANK: Readonly<Record<Readiness, number>> = { ready: 0, starts: 1, tries: 2, refuses: 3 };

/**
 * The node for a call: the least busy that is ready, else the least busy that may start a process. `isBalanced`: no node
 * is preferred. Otherwise this node takes every call that it can serve without waiting for a next try.
 */
export function chooseNode<One extends Candidate>(
  candidates: Iterable<One>,
  isBalanced: boolean,
  tried: readonly Candidate[] = [],
): One | undefined {
  let chosen: One | undefined;
  for (const candidate of candidates) {
    if (tried.includes(candidate)) continue;
    if (chosen === undefined || isBetter(candidate, chosen, isBalanced)) chosen = candidate;
  }
  return chosen;
}

function isBetter(one: Candidate, than: Candidate, isBalanced: boolean): boolean {
  const later = rankOf(one, isBalanced) - rankOf(than, isBalanced);
  return later === 0 ? one.load < than.load : later < 0;
}

function rankOf({ node, readiness }: Candidate, isBalanced: boolean): number {
  const isFirst = node === undefined && !isBalanced && (readiness === 'ready' || readiness === 'starts');
  return isFirst ? -1 : RANK[readiness];
}
