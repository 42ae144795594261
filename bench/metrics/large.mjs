// Results of 1 to 200 MB: how long they take, what the daemon needs for them, and how small calls fare beside them.
import { interleave, median, quantile } from '../numbers.mjs';
import { firstLine, startPeers } from '../peers/start-peers.mjs';
import { peakOf, resetPeak, rssOf } from '../proc-stats.mjs';
import { openAgent } from '../systems/agent.mjs';
import { startTunedRelay } from '../systems/relay.mjs';
import { childrenOf } from '../systems/servers.mjs';
import { COMMAND, startToolherd } from '../systems/toolherd.mjs';

const MB = 1e6;
/** The official client gives up a line of more than 10 MiB. */
const SDK_MOST = 10 * MB;
/** Beyond this size, a system that parses takes minutes, or more memory than there is. */
const PARSED_MOST = 50 * MB;
/** One of 50 MB takes a peer twenty seconds. */
const PEER_ROUNDS = 2;
const entry = { max_message_bytes: 256 * 1024 * 1024 };

export async function measureLarge(/** @type {Bench.MetricOptions} */ { sizes, rounds, peers, note }) {
  /** @type {Record<number, any>} */
  const large = {};
  for (const size of sizes) {
    note(`results of ${size / MB} MB`);
    large[size] = { ...(await times(size, rounds, size < MB || size > PARSED_MOST ? [] : peers, note)) };
    if (size >= MB) large[size].memory = await memory(size);
  }
  return { large };
}

async function times(
  /** @type {number} */ size,
  /** @type {number} */ rounds,
  /** @type {Bench.Peer[]} */ peers,
  /** @type {Bench.Note} */ note,
) {
  const [herd, relay] = [await startToolherd({ e0: entry }), await startTunedRelay(['e0'])];
  /** @type {Record<string, Bench.TransportOptions>} */
  const transports = {
    'raw pipe': { kind: 'pipe', servers: childrenOf(['e0']) },
    'tuned relay': relay.transport,
    'toolherd, socket': herd.transports.mcp,
    'toolherd, bridge': { kind: 'pipe', bridge: [process.execPath, COMMAND(), 'bridge'], env: herd.env },
  };
  if (size <= SDK_MOST) transports['SDK, own child'] = { kind: 'sdk', servers: childrenOf(['e0']) };
  if (size <= PARSED_MOST) transports['toolherd, fleet/call'] = herd.transports.fleet;
  /** @type {Record<string, Bench.Agent>} */
  const agents = {};
  for (const [name, transport] of Object.entries(transports)) agents[name] = await openAgent(transport);
  /** @type {Record<string, string>} */
  const without = {};
  if (size > SDK_MOST) without['SDK, own child'] = 'it closes the connection above 10 MiB';
  const attending = await startPeers(peers, ['e0'], note);
  for (const { name, agent } of attending) {
    try {
      await withinPatience(agent.ask('large', { size }));
      agents[name] = agent;
    } catch (error) {
      without[name] = firstLine(error);
      await agent.close();
    }
  }
  for (const [name, reason] of Object.entries(without))
    note(`left out at ${size / MB} MB: ${name}: ${reason}`);
  try {
    const isPeer = new Set(attending.map(({ name }) => name));
    const run = (
      /** @type {Bench.Agent} */ agent,
      /** @type {string} */ name,
      /** @type {number} */ round,
    ) =>
      isPeer.has(name) && (round < 0 || round >= PEER_ROUNDS)
        ? undefined
        : agent.ask('large', { size, times: size < MB ? 200 : 1 });
    const list = await interleave({ rounds: roundsOf(size, rounds), warmups: 1, systems: agents, run });
    const ms = Object.fromEntries(
      Object.entries(list).map(([name, all]) => [name, median(all.filter((ms) => ms !== undefined))]),
    );
    return { ms, without };
  } finally {
    await Promise.all(Object.values(agents).map((agent) => agent.close()));
    await Promise.all(
      [herd, relay, ...attending.map(({ system }) => system)].map((system) => system.close()),
    );
  }
}

const roundsOf = (/** @type {number} */ size, /** @type {number} */ rounds) =>
  Math.max(3, Math.round(rounds / Math.max(1, size / (20 * MB))));

async function withinPatience(/** @type {Promise<any>} */ promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('no result in 60 s')), 60_000);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** By how much the daemon grows: of a fresh one, from idle to its peak while three such results pass. */
async function memory(/** @type {number} */ size) {
  const herd = await startToolherd({ e0: entry });
  const agent = await openAgent(herd.transports.mcp);
  try {
    await agent.ask('sequential', { calls: 500 });
    const before = rssOf(herd.pid);
    resetPeak(herd.pid);
    for (let time = 0; time < 3; time += 1) await agent.ask('large', { size });
    return { before, peak: peakOf(herd.pid) };
  } finally {
    await agent.close();
    await herd.close();
  }
}

/** Small calls to one server, alone and while large results of another pass. */
export async function measureBeside(/** @type {Bench.MetricOptions} */ { size, rounds, ms }) {
  const names = ['e0', 'e1'];
  const [herd, relay] = [await startToolherd({ e0: entry, e1: entry }), await startTunedRelay(names)];
  /** @type {Record<string, { small: Bench.Agent, large: Bench.Agent }>} */
  const systems = {};
  for (const [name, transport] of Object.entries({
    'tuned relay': relay.transport,
    'toolherd, socket': herd.transports.mcp,
  })) {
    systems[name] = {
      small: await openAgent(transport),
      large: await openAgent({ ...transport, kind: 'reader' }),
    };
  }
  try {
    const list = await interleave({
      rounds,
      warmups: 1,
      systems,
      run: async ({ small, large }) => {
        const alone = await small.ask('sequentialFor', { ms, server: 'e1' });
        const passing = large.ask('largeFor', { ms, size, server: 'e0' });
        const beside = await small.ask('sequentialFor', { ms, server: 'e1' });
        await passing;
        return { alone, beside };
      },
    });
    const p = (
      /** @type {{ alone: number[], beside: number[] }[]} */ all,
      /** @type {'alone' | 'beside'} */ which,
      /** @type {number} */ share,
    ) =>
      quantile(
        all.flatMap((round) => round[which]),
        share,
      );
    const entries = Object.entries(list).map(([name, all]) => [
      name,
      {
        alone: { p50: p(all, 'alone', 0.5), p99: p(all, 'alone', 0.99) },
        beside: { p50: p(all, 'beside', 0.5), p99: p(all, 'beside', 0.99), max: p(all, 'beside', 1) },
      },
    ]);
    return { beside: { size, systems: Object.fromEntries(entries) } };
  } finally {
    for (const { small, large } of Object.values(systems)) await Promise.all([small.close(), large.close()]);
    await Promise.all([herd.close(), relay.close()]);
  }
}
