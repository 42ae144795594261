import type { AnyEventObject } from 'xstate';

/** What an event means to a person who asks why. */
const WORDS: Readonly<Record<string, string>> = {
  start: 'told to start',
  stop: 'told to stop',
  restart: 'told to restart',
  reset: 'told to forget its failures',
  connect: 'it is its turn to start',
  'call.waiting': 'a call came',
  'permit.granted': 'it is its turn to start',
  'server.connected': 'the handshake is done',
  'link.opened': 'the handshake is done',
  'link.discovered': 'its lists were read',
  'link.list_changed': 'it says that its lists changed',
  'link.closed': 'closed, nothing of it is left',
  'xstate.init': 'a new incarnation',
};

const TIMERS: readonly [RegExp, string][] = [
  [/startTimeout/, 'no answer to initialize in time'],
  [/discoverTimeout/, 'its lists took too long to read'],
  [/closeTimeout/, 'it did not go when asked'],
  [/idleTimeout/, 'nobody called it for its idle time'],
  [/backoff/, 'the time of the next try came'],
  [/hold/, 'the last try is long enough ago for a call to make the next one'],
];

export function describeCause(event: AnyEventObject): string {
  const { type } = event;
  if (type === 'link.failed') return String(event.failure?.message);
  if (typeof event.message === 'string') return event.message;
  if (type.startsWith('xstate.after'))
    return TIMERS.find(([pattern]) => pattern.test(type))?.[1] ?? 'a timer';
  if (type.startsWith('xstate.done.actor')) return endingWords(event.output);
  if (type.startsWith('xstate.error.actor')) return 'a fault in toolherd itself';
  return WORDS[type] ?? type;
}

function endingWords(output: unknown): string {
  const ending = output as { kind?: string; message?: string; reason?: string } | undefined;
  if (typeof ending?.message === 'string') return ending.message;
  return ending?.reason === 'idle'
    ? 'nobody called it for its idle time'
    : `it was ${ending?.reason ?? 'ended'}`;
}
