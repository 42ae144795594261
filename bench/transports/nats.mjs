// Bare requests of NATS to a service that echoes: the floor of a call to another node.
import { connect } from '@nats-io/transport-node';

/** @returns {Promise<Bench.Transport>} */
export async function openNats(/** @type {{ url: string }} */ { url }) {
  const client = await connect({ servers: url });
  return {
    // parsed and written as JSON-RPC is
    async call(_server, _tool, args) {
      const reply = await client.request('bench.echo', JSON.stringify({ arguments: args }));
      return JSON.parse(reply.string()).arguments.text;
    },
    close: () => client.close(),
  };
}
