import type { keeperDelays } from './keeper-context.js';
import type { serverDelays } from './server-context.js';
import type { transientDelays } from './transient-context.js';

/** The delays of all machines. */
export type DelayName = keyof typeof serverDelays | keyof typeof keeperDelays | keyof typeof transientDelays;

/** The delay whose timer sent this event; undefined for any other event. */
export function delayOf(eventType: string): DelayName | undefined {
  return /^xstate\.after\.([^.]+)\./.exec(eventType)?.[1] as DelayName | undefined;
}

/** An event as charts and journals show it: `stop`, `after backoff`, `server ended`. */
export function eventLabel(eventType: string): string {
  const delay = delayOf(eventType);
  if (delay !== undefined) return `after ${delay}`;
  const [, how, who] = /^xstate\.(done|error)\.actor\.([^.]+)/.exec(eventType) ?? [];
  return who ? `${who} ${how === 'done' ? 'ended' : 'broke'}` : eventType;
}
