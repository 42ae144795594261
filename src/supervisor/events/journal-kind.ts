import type { JournalKind } from '../../fleet/fleet.js';
import type { Ending } from '../../machines/restart/ending.js';
import { keeperState, serverState } from '../../machines/state-name.js';

/** What decides the kind of a transition, of the snapshot before it and of the one after it. */
export interface JournalState {
  /** The full name of the state. */
  name: string;
  tags: ReadonlySet<string>;
  incarnation: number;
  /** Of an incarnation: the end that it is heading for. */
  ending?: Ending | undefined;
}

/** What a transition of an incarnation means outside of its statechart; undefined: nothing. */
export function serverKind(before: JournalState | undefined, after: JournalState): JournalKind | undefined {
  const [from, to] = [before && serverState(before.name), serverState(after.name)];
  const wasLeaving = before?.tags.has('leaving') ?? false;
  if (from === 'created' && to === 'connecting') return 'started';
  if (from === 'connecting' && to === 'connected') return 'ready';
  if (to === 'disconnected') return 'ended';
  // a start that fails is reported when it fails, not when its process has ended
  if (to === 'error') return wasLeaving && before?.ending?.kind === 'error' ? undefined : 'failed';
  if (wasLeaving || !after.tags.has('leaving')) return undefined;
  return to === 'connecting' && after.ending?.kind === 'error' ? 'failed' : 'asked_to_exit';
}

/** What a transition of a keeper means outside of its statechart; undefined: nothing. */
export function keeperKind(before: JournalState | undefined, after: JournalState): JournalKind | undefined {
  const [from, to] = [before && keeperState(before.name), keeperState(after.name)];
  if (from === 'running' && to === 'running') {
    const isNext = before !== undefined && after.incarnation > before.incarnation;
    return isNext && before.tags.has('up') ? 'restarting' : undefined;
  }
  if (to === 'running') return 'starting';
  if (from === to && (to === 'waiting' || to === 'quarantined'))
    return after.tags.has('callable') ? 'callable' : undefined;
  if (to === 'stopped') return from === 'running' ? undefined : 'stopped';
  return to;
}
