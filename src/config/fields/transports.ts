import type { Transport } from './spec.js';

/** The names of the transports in a config, each with the transport it stands for. */
export const TRANSPORTS = {
  stdio: 'stdio',
  sse: 'sse',
  websocket: 'websocket',
  http: 'http',
  streamable_http: 'http',
  'streamable-http': 'http',
} as const satisfies Readonly<Record<string, Transport>>;

export const TRANSPORT_NAMES = Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[];

export function toTransport(name: unknown): Transport | undefined {
  return TRANSPORT_NAMES.includes(name as keyof typeof TRANSPORTS)
    ? TRANSPORTS[name as keyof typeof TRANSPORTS]
    : undefined;
}
