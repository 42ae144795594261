// A herd that starts, one that an agent attaches to, and what herds weigh.
import { interleave, median } from '../numbers.mjs';
import { firstLine } from '../peers/start-peers.mjs';
import { familyOf, pssOf, rssOf, sumOf } from '../proc-stats.mjs';
import { openAgent } from '../systems/agent.mjs';
import { startRelay } from '../systems/relay.mjs';
import { childrenOf, namesOf, TOOLS } from '../systems/servers.mjs';
import { makeHerd, startToolherd } from '../systems/toolherd.mjs';
import { connectLines, listAll, shakeHands } from '../transports/lines.mjs';

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Until what a start leaves behind (garbage, lists that are written) is gone. */
const SETTLING_MS = 3000;

const lazily = (/** @type {number} */ count) =>
  Object.fromEntries(namesOf(count).map((name) => [name, { start: 'lazy' }]));

/** From nothing to the whole list, all servers up: raw children, and herds with the start of their daemon. */
export async function measureStart(/** @type {Bench.MetricOptions} */ { sizes, rounds, peers, note }) {
  /** @type {Record<number, Record<string, number | undefined>>} */
  const herdStart = {};
  const agent = await openAgent();
  try {
    for (const count of sizes) {
      note(`a herd of ${count}`);
      const systems = {
        'raw children': () => agent.ask('spawnRaw', { servers: childrenOf(namesOf(count)) }),
        relay: () => relayStart(count),
        toolherd: () => toolherdStart(count),
        'toolherd, daemon already there': () => toolherdOrder(count),
        ...Object.fromEntries(
          supporting(peers, count, note).map((/** @type {Bench.Peer} */ peer) => [
            peer.name,
            peerStart(peer, count, note),
          ]),
        ),
      };
      const list = await interleave({
        rounds: Math.max(Math.min(3, rounds), Math.round(rounds / Math.max(1, count / 20))),
        warmups: 1,
        systems,
        run: (/** @type {(round: number) => Promise<any>} */ begin, _, round) => begin(round),
      });
      /** @type {Record<string, number | undefined>} */
      const medians = {};
      for (const [name, all] of Object.entries(list))
        medians[name] = median(all.filter((ms) => ms !== undefined)) || undefined;
      herdStart[count] = medians;
    }
    return { herdStart };
  } finally {
    await agent.close();
  }
}

/** A process for each server, made one after the other, takes minutes for a hundred. */
function supporting(
  /** @type {Bench.Peer[]} */ peers,
  /** @type {number} */ count,
  /** @type {Bench.Note} */ note,
) {
  return peers.filter((/** @type {{ name: string, mostServers?: any }} */ { name, mostServers = 100 }) => {
    if (count > mostServers) note(`left out here: ${name}: more than ${mostServers} servers take it minutes`);
    return count <= mostServers;
  });
}

/** Of peers two rounds are enough. */
const peerStart =
  (/** @type {Bench.Peer} */ peer, /** @type {number} */ count, /** @type {Bench.Note} */ note) =>
  async (/** @type {number} */ round) => {
    if (round < 0 || round >= 2) return undefined;
    try {
      return await peer.startTime(namesOf(count));
    } catch (error) {
      note(`left out here: ${peer.name}: ${firstLine(error)}`);
      return undefined;
    }
  };

async function relayStart(/** @type {number} */ count) {
  const begun = performance.now();
  const relay = await startRelay(namesOf(count));
  const { lines, socket } = await connectLines(relay.transport.path);
  await shakeHands(lines);
  await listAll(lines, count * TOOLS);
  const ms = performance.now() - begun;
  socket.destroy();
  await relay.close();
  return ms;
}

/** Servers that begin with their daemon: from spawning it to the whole list. */
async function toolherdStart(/** @type {number} */ count) {
  const herd = makeHerd(namesOf(count));
  const begun = performance.now();
  return timeUntilListed(herd, await herd.up(), count, async () => begun);
}

/** Lazy servers of a running daemon: from the start order to the full list. */
async function toolherdOrder(/** @type {number} */ count) {
  const herd = makeHerd(lazily(count));
  return timeUntilListed(
    herd,
    await herd.up(),
    count,
    async (/** @type {import('../transports/lines.mjs').Lines} */ lines) => {
      const begun = performance.now();
      await lines.request('fleet/start', { all: true, wait: true });
      return begun;
    },
  );
}

/** `order` resolves with the time at which the measurement began. Ends the daemon. */
async function timeUntilListed(
  /** @type {any} */ herd,
  /** @type {any} */ daemon,
  /** @type {number} */ count,
  /** @type {(lines: import('../transports/lines.mjs').Lines) => Promise<number>} */ order,
) {
  const { lines, socket } = await connectLines(herd.path);
  await shakeHands(lines);
  const begun = await order(lines);
  await listAll(lines, count * TOOLS);
  const ms = performance.now() - begun;
  socket.destroy();
  await daemon.down();
  herd.remove();
  return ms;
}

/** 20 servers that rest, their lists in the cache: from connecting to the list, of the first agent and of later ones. */
export async function measureAttach(/** @type {Bench.MetricOptions} */ { rounds, count = 20 }) {
  const herd = makeHerd(lazily(count));
  const agent = await openAgent();
  const attach = () => agent.ask('attach', { path: herd.path, tools: count * TOOLS });
  /** @type {[number[], number[]]} */
  const [first, later] = [[], []];
  try {
    const filling = await herd.up();
    const { lines, socket } = await connectLines(herd.path);
    await shakeHands(lines);
    await lines.request('fleet/start', { all: true, wait: true });
    await listAll(lines, count * TOOLS);
    socket.destroy();
    await filling.down();
    for (let round = 0; round < rounds; round += 1) {
      const daemon = await herd.up();
      first.push(await attach());
      for (let time = 0; time < 5; time += 1) later.push(await attach());
      if (familyOf(daemon.pid).length > 3) throw new Error('attaching started a server');
      await daemon.down();
    }
    return { attach: { count, first: median(first), later: median(later) } };
  } finally {
    await agent.close();
    herd.remove();
  }
}

/** The memory of the daemon without its servers, with herds of several sizes. */
export async function measureMemory(/** @type {Bench.MetricOptions} */ { sizes, peers, note }) {
  /** @type {Record<number, Record<string, { rss: number, pss: number }>>} */
  const memory = {};
  for (const count of sizes) {
    note(`memory with ${count} servers`);
    /** @type {Record<string, () => Promise<any>>} */
    const starts = {
      toolherd: () => startToolherd(namesOf(count)),
      ...(count > 0 && { relay: () => startRelay(namesOf(count)) }),
      ...(count > 0 &&
        Object.fromEntries(
          supporting(peers, count, note).map((/** @type {Bench.Peer} */ peer) => [
            peer.name,
            () => peer.start(namesOf(count)),
          ]),
        )),
    };
    memory[count] = {};
    for (const [name, begin] of Object.entries(starts)) {
      try {
        const system = await begin();
        await sleep(SETTLING_MS);
        const pids = system.pids ?? [system.pid];
        memory[count][name] = { rss: sumOf(pids, rssOf), pss: sumOf(pids, pssOf) };
        await system.close();
      } catch (error) {
        if (name === 'toolherd' || name === 'relay') throw error;
        note(`left out here: ${name}: ${firstLine(error)}`);
      }
    }
  }
  return { memory };
}

/** 8 agents with 10 servers: once each agent starts its own processes, once all share one herd. The agents are not counted. */
export async function measureShared({ agents = 8, count = 10 }) {
  const names = namesOf(count);
  const weigh = (/** @type {number[]} */ pids) => ({
    rss: sumOf(pids, rssOf),
    pss: sumOf(pids, pssOf),
    processes: pids.length,
  });
  const use = (/** @type {Bench.Agent[]} */ list) =>
    Promise.all(
      list.flatMap((/** @type {Bench.Agent} */ agent) =>
        names.map((server) => agent.ask('sequential', { calls: 5, server })),
      ),
    );
  const open = (/** @type {Bench.TransportOptions} */ transport) =>
    Promise.all(Array.from({ length: agents }, () => openAgent(transport)));
  const measure = async (
    /** @type {Bench.TransportOptions} */ transport,
    /** @type {(agents: Bench.Agent[]) => number[]} */ pidsOf,
  ) => {
    const list = await open(transport);
    await use(list);
    await sleep(SETTLING_MS);
    const weight = weigh(pidsOf(list));
    await Promise.all(list.map((agent) => agent.close()));
    return weight;
  };
  const below = (/** @type {Bench.Agent[]} */ list) =>
    list.flatMap((/** @type {{ pid: number }} */ { pid }) => familyOf(pid).slice(1));
  const separate = await measure({ kind: 'pipe', servers: childrenOf(names) }, below);
  const herd = await startToolherd(names);
  try {
    const shared = await measure(herd.transports.mcp, () => familyOf(herd.pid));
    const bridged = await measure(herd.transports.bridge, (/** @type {Bench.Agent[]} */ list) => [
      ...familyOf(herd.pid),
      ...below(list),
    ]);
    return { shared: { agents, count, separate, shared, bridged } };
  } finally {
    await herd.close();
  }
}
