/** The names of the transports in a config, each with the transport it stands for. */
export const TRANSPORT_OF = {
  stdio: 'stdio',
  sse: 'sse',
  websocket: 'websocket',
  http: 'http',
  streamable_http: 'http',
  'streamable-http': 'http',
} as const;

type TransportName = keyof typeof TRANSPORT_OF;
export type Transport = (typeof TRANSPORT_OF)[TransportName];

export const TRANSPORT_NAMES = Object.keys(TRANSPORT_OF) as TransportName[];
export const TRANSPORTS: readonly Transport[] = [...new Set(Object.values(TRANSPORT_OF))];

export function toTransport(name: unknown): Transport | undefined {
  return TRANSPORT_NAMES.includes(name as TransportName) ? TRANSPORT_OF[name as TransportName] : undefined;
}
