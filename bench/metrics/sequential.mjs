// One call after the other, and 64 at once on one server and over eight.
import { interleave, median, quantile } from '../numbers.mjs';
import { startPeers } from '../peers/start-peers.mjs';
import { openAgent } from '../systems/agent.mjs';
import { startRelay, startRelayOfSessions, startTunedRelay } from '../systems/relay.mjs';
import { childrenOf, namesOf } from '../systems/servers.mjs';
import { startToolherd } from '../systems/toolherd.mjs';

const IN_FLIGHT = 64;
/** Few agents ever make more calls than in these, and V8 has not optimised any system's code by then. */
const EARLY_ROUNDS = 4;

export async function measureSequential(/** @type {Bench.MetricOptions} */ { rounds, calls, peers, note }) {
  const line = await startAll(namesOf(1), peers, note);
  try {
    const times = await interleave({
      rounds,
      warmups: 3,
      systems: line.agents,
      run: (agent, name) => agent.ask('sequential', { calls: line.share(calls, name) }),
    });
    const systems = Object.entries(times).map(([name, list]) => {
      const medians = list.map(median);
      const early = median(medians.slice(0, EARLY_ROUNDS));
      return [name, { p50: median(medians), p99: quantile(list.flat(), 0.99), early }];
    });
    return { sequential: Object.fromEntries(systems) };
  } finally {
    await line.close();
  }
}

export async function measureThroughput(/** @type {Bench.MetricOptions} */ { rounds, calls, peers, note }) {
  const names = namesOf(8);
  const line = await startAll(names, peers, note);
  const perSecond = async (/** @type {string[]} */ servers) => {
    const times = await interleave({
      rounds,
      warmups: 2,
      systems: line.agents,
      run: (agent, name) =>
        agent.ask('flood', { calls: line.share(calls, name), inFlight: IN_FLIGHT, servers }),
    });
    return Object.fromEntries(
      Object.entries(times).map(([name, list]) => [name, (1000 * line.share(calls, name)) / median(list)]),
    );
  };
  try {
    return { throughput: { one: await perSecond([names[0]]), eight: await perSecond(names) } };
  } finally {
    await line.close();
  }
}

/** Starts all systems of the comparison, each with its own agent. A peer that cannot start is left out, with the reason. */
async function startAll(
  /** @type {string[]} */ names,
  /** @type {Bench.Peer[]} */ peers,
  /** @type {Bench.Note} */ note,
) {
  const [herd, relay] = [await startToolherd(names), await startRelay(names)];
  const [tuned, sessions] = [await startTunedRelay(names), await startRelayOfSessions(names)];
  /** @type {Record<string, Bench.TransportOptions>} */
  const transports = {
    'raw pipe': { kind: 'pipe', servers: childrenOf(names) },
    relay: relay.transport,
    'tuned relay': tuned.transport,
    'relay, servers in sessions': sessions.transport,
    'SDK, own child': { kind: 'sdk', servers: childrenOf(names) },
    'SDK, relay': { kind: 'sdk', path: relay.transport.path },
    'toolherd, socket': herd.transports.mcp,
    'toolherd, fleet/call': herd.transports.fleet,
    'toolherd, library': herd.transports.library,
    'toolherd, bridge with SDK': herd.transports.bridge,
  };
  /** @type {Record<string, Bench.Agent>} */
  const agents = {};
  for (const [name, transport] of Object.entries(transports)) agents[name] = await openAgent(transport);
  const started = await startPeers(peers, names, note);
  for (const { name, agent } of started) agents[name] = agent;
  const isPeer = new Set(started.map(({ name }) => name));
  return {
    agents,
    /** How many of so many calls a system makes in a round: peers that take ten times as long make fewer. */
    share: (/** @type {number} */ calls, /** @type {string} */ name) =>
      isPeer.has(name) ? Math.ceil(calls / 5) : calls,
    herd,
    relay,
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.close()));
      await Promise.all(
        [herd, relay, tuned, sessions, ...started.map(({ system }) => system)].map((system) =>
          system.close(),
        ),
      );
    },
  };
}
