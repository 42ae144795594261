import type { RemoteSpec } from '../../config/fields/spec.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';

/** The transport of a remote server's spec. Loads a transport's code when the first such server is opened: a herd of processes needs none of it. */
export async function createTransport(spec: RemoteSpec, ports: TransportPorts): Promise<RemoteTransport> {
  if (spec.transport === 'http') return new (await import('./http-transport.js')).HttpTransport(spec, ports);
  if (spec.transport === 'sse') return new (await import('./sse-transport.js')).SseTransport(spec, ports);
  if (spec.transport === 'herd') return new (await import('./herd-transport.js')).HerdTransport(spec, ports);
  return new (await import('./websocket-transport.js')).WebsocketTransport(spec, ports);
}
