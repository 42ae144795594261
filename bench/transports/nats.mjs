// A bare request of NATS to a service that echoes, and behind it a local call where a path is given.
import { connect } from '@nats-io/transport-node';
import { openSocket } from './raw.mjs';

/** Of a request of MCP with a text of 100 bytes, as a line. */
const payload = Buffer.alloc(200, 'x');

/**
 * @param {Bench.TransportOptions} options
 * @returns {Promise<Bench.Transport>}
 */
export async function openNats({ url, path }) {
  const client = await connect({ servers: url });
  const local = path === undefined ? undefined : await openSocket({ path });
  return {
    async call(server, tool, args) {
      const { data } = await client.request('bench.echo', payload, { timeout: 30_000 });
      if (data.length !== payload.length) throw new Error('the service answered something else');
      return local === undefined ? args.text : local.call(server, tool, args);
    },
    async close() {
      await client.close();
      await local?.close();
    },
  };
}
