import type { ServerStatus } from '../../fleet/fleet.js';

export type Tone = 'good' | 'busy' | 'calm' | 'warn' | 'bad';

/** The state of a server in one word of the command, and how it looks. */
export function stateWord({ state, detail }: Pick<ServerStatus, 'state' | 'detail'>): {
  word: string;
  tone: Tone;
} {
  switch (detail) {
    case 'running':
      if (state === 'connected') return { word: 'running', tone: 'good' };
      return state === 'connecting' || state === 'created'
        ? { word: 'starting', tone: 'busy' }
        : { word: state, tone: 'warn' };
    case 'idle':
      // its last start failed; the next call tries again
      return state === 'error' ? { word: 'error', tone: 'bad' } : { word: 'idle', tone: 'calm' };
    case 'waiting':
    case 'needs_auth':
    case 'not_allowed':
      return { word: detail.replace('_', ' '), tone: 'warn' };
    case 'quarantined':
    case 'misconfigured':
      return { word: detail, tone: 'bad' };
    default:
      return { word: detail, tone: 'calm' };
  }
}

/** Views may each have a server of one name. */
export function serverKey({ name, agent }: Pick<ServerStatus, 'name' | 'agent'>): string {
  return `${agent ?? ''}/${name}`;
}
