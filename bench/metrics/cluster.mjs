// Calls to a server of another node of a cluster on NATS, against a bare request of NATS and a local call behind it.
import { interleave, median, quantile } from '../numbers.mjs';
import { openAgent } from '../systems/agent.mjs';
import { findNatsServer, startCluster } from '../systems/cluster.mjs';

const IN_FLIGHT = 64;
const FAN_OUT = 1000;
const MB = 1e6;
const LARGE = 50 * MB;
const LARGE_ROUNDS = 5;
const large = { max_message_bytes: 256 * 1024 * 1024 };

export async function measureCluster(/** @type {Bench.MetricOptions} */ { rounds, calls, note }) {
  const program = findNatsServer();
  if (program === undefined) {
    note('left out: nats-server is not installed (Debian: apt-get install nats-server)');
    return {};
  }
  const shared = { all: { cluster: true } };
  const cluster = await startCluster(program, {
    desk: { own: large, ...shared },
    gpu: { there: large, ...shared },
    lab: shared,
  });
  const { desk } = cluster.herds;
  /** @type {Record<string, { transport: Bench.TransportOptions, server: string }>} */
  const ways = {
    'a request of NATS': { transport: { kind: 'nats', url: cluster.url }, server: 'none' },
    'a request of NATS, then a local call': {
      transport: { kind: 'nats', url: cluster.url, path: desk.path },
      server: 'own',
    },
    'toolherd, this node': { transport: desk.transports.mcp, server: 'own' },
    'toolherd, another node': { transport: desk.transports.mcp, server: 'there' },
    'toolherd, three nodes': { transport: desk.transports.mcp, server: 'all' },
  };
  /** @type {Record<string, { agent: Bench.Agent, server: string }>} */
  const systems = {};
  try {
    for (const [name, { transport, server }] of Object.entries(ways))
      systems[name] = { agent: await openAgent(transport), server };
    const compare = async (
      /** @type {(agent: Bench.Agent, server: string) => Promise<any>} */ run,
      /** @type {string[]} */ names = Object.keys(systems),
      many = rounds,
    ) =>
      interleave({
        rounds: many,
        warmups: 2,
        systems: Object.fromEntries(names.map((name) => [name, systems[name]])),
        run: ({ agent, server }) => run(agent, server),
      });
    const times = await compare((agent, server) => agent.ask('sequential', { calls, server }));
    const floods = await compare((agent, server) =>
      agent.ask('flood', { calls: 4 * calls, inFlight: IN_FLIGHT, servers: [server] }),
    );
    const own = Object.keys(ways).filter((name) => name.startsWith('toolherd'));
    const fanOuts = await compare(
      (agent, server) => agent.ask('fanOut', { calls: FAN_OUT, servers: [server], inOne: false }),
      own,
    );
    const results = await compare(
      (agent, server) => agent.ask('large', { size: LARGE, server }),
      own.slice(0, 2),
      LARGE_ROUNDS,
    );
    return {
      cluster: Object.fromEntries(
        Object.keys(ways).map((name) => [
          name,
          {
            p50: median(times[name].map(median)),
            p99: quantile(times[name].flat(), 0.99),
            perSecond: (1000 * 4 * calls) / median(floods[name]),
            fanOut: fanOuts[name] && median(fanOuts[name]),
            large: results[name] && median(results[name]),
          },
        ]),
      ),
    };
  } finally {
    await Promise.all(Object.values(systems).map(({ agent }) => agent.close()));
    await cluster.close();
  }
}
