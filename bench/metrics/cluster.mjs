// Calls to servers of other nodes of a cluster, against a bare request of NATS and a local call.
import { interleave, median } from '../numbers.mjs';
import { until } from '../patience.mjs';
import { openAgent } from '../systems/agent.mjs';
import { findNatsServer, startNats } from '../systems/nats.mjs';
import { startToolherd } from '../systems/toolherd.mjs';
import { connectLines } from '../transports/lines.mjs';

const IN_FLIGHT = 64;
const MB = 1e6;
const entry = { max_message_bytes: 256 * 1024 * 1024 };

export async function measureCluster(/** @type {Bench.MetricOptions} */ { rounds, calls, sizes, leaveOut }) {
  const command = findNatsServer();
  if (command === undefined) {
    leaveOut('nats-server is not installed');
    return {};
  }
  const nats = await startNats(command);
  const node = (/** @type {string} */ name, /** @type {string[]} */ servers) =>
    startToolherd(Object.fromEntries(servers.map((server) => [server, entry])), {
      config: { cluster: { servers: [nats.url], node: name, share: ['e*'] } },
    });
  const nodes = [
    await node('n0', ['e0', 'own1', 'own2']),
    await node('n1', ['e1']),
    await node('n2', ['e2']),
  ];
  const { transports, path } = nodes[0];
  const bare = await openAgent({ kind: 'nats', url: nats.url });
  const agent = await openAgent(transports.mcp);
  try {
    await whenListed(path, ['e1', 'e2']);
    const ways = {
      request: { agent: bare, server: 'e0' },
      own: { agent, server: 'e0' },
      other: { agent, server: 'e1' },
    };
    const times = await interleave({
      rounds,
      warmups: 2,
      systems: ways,
      run: ({ agent: caller, server }) => caller.ask('sequential', { calls, server }),
    });
    const floods = await interleave({
      rounds,
      warmups: 1,
      systems: ways,
      run: ({ agent: caller, server }) =>
        caller.ask('flood', { calls: 10 * calls, inFlight: IN_FLIGHT, servers: [server] }),
    });
    const fanOut = await interleave({
      rounds,
      warmups: 2,
      systems: { own: ['e0', 'own1', 'own2'], cluster: ['e0', 'e1', 'e2'] },
      run: (servers) => agent.ask('fanOut', { calls: 1000, servers }),
    });
    const size = Math.max(...sizes);
    const large = await interleave({
      rounds: 3,
      systems: { own: 'e0', other: 'e1' },
      run: (server) => agent.ask('large', { size, server }),
    });
    const each = (/** @type {Record<string, any[]>} */ outcomes, /** @type {(all: any[]) => number} */ of) =>
      Object.fromEntries(Object.entries(outcomes).map(([name, all]) => [name, of(all)]));
    return {
      cluster: {
        p50: each(times, (all) => median(all.map(median))),
        rate: each(floods, (all) => (10 * calls * 1000) / median(all)),
        fanOut: each(fanOut, median),
        large: { mb: size / MB, ...each(large, median) },
      },
    };
  } finally {
    await Promise.all([bare.close(), agent.close()]);
    await Promise.all(nodes.map((one) => one.close()));
    await nats.close();
  }
}

/** The servers of other nodes are there, and answer. */
async function whenListed(/** @type {string} */ path, /** @type {string[]} */ names) {
  const { lines, socket } = await connectLines(path);
  for (const server of names)
    await until(`the first call of ${server}`, async () => {
      const called = await lines.request('fleet/call', { server, tool: 'echo', arguments: { text: 'x' } });
      return called.success;
    });
  socket.destroy();
}
