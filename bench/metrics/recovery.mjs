// SIGKILL in the middle of a call: when the caller hears of it, and when a call succeeds again.
import { median } from '../numbers.mjs';
import { startPeers } from '../peers/start-peers.mjs';
import { openAgent } from '../systems/agent.mjs';
import { childrenOf, ECHO, namesOf } from '../systems/servers.mjs';
import { startToolherd } from '../systems/toolherd.mjs';

const PATIENCE_MS = 5000;
const PEER_ROUNDS = 3;

export async function measureRecovery(/** @type {Bench.MetricOptions} */ { rounds, peers, note }) {
  const names = namesOf(rounds);
  // each server is killed once: a restart after a healthy time is what is measured, not the backoff after it
  const herd = await startToolherd(Object.fromEntries(names.map((name) => [name, { healthy_after: 0.1 }])));
  /** @type {Record<string, Bench.Agent>} */
  const systems = { 'toolherd, socket': await openAgent(herd.transports.mcp) };
  systems['SDK, own child'] = await openAgent({ kind: 'sdk', servers: childrenOf(names) });
  const attending = await startPeers(peers, names.slice(0, PEER_ROUNDS), note);
  for (const { name, agent } of attending) systems[name] = agent;
  const raw = await openAgent();
  const boots = [];
  /** @type {Record<string, any[]>} */
  const outcomes = Object.fromEntries(Object.keys(systems).map((name) => [name, []]));
  try {
    for (const [round, server] of names.entries()) {
      note(`recovery, round ${round + 1} of ${rounds}`);
      boots.push(await raw.ask('spawnRaw', { servers: { e0: ECHO }, calls: 1 }));
      for (const [name, agent] of Object.entries(systems)) {
        // a system that never recovers takes the whole patience in each round
        if (round >= PEER_ROUNDS && name !== 'toolherd, socket') continue;
        outcomes[name].push(await agent.ask('recovery', { server, patienceMs: PATIENCE_MS }));
      }
    }
    const boot = median(boots);
    const entries = Object.entries(outcomes).map(([name, list]) => [name, summaryOf(list, boot)]);
    return { recovery: { boot, systems: Object.fromEntries(entries) } };
  } finally {
    await Promise.all([raw, ...Object.values(systems)].map((agent) => agent.close()));
    await Promise.all([herd, ...attending.map(({ system }) => system)].map((system) => system.close()));
  }
}

/** Null: it did not come within the patience. */
function summaryOf(/** @type {Bench.Agent[]} */ list, /** @type {number} */ boot) {
  const all = (/** @type {string} */ name) =>
    list
      .map((/** @type {any} */ outcome) => outcome[name])
      .filter((/** @type {number} */ ms) => ms !== undefined);
  const medianOf = (/** @type {string} */ name) =>
    all(name).length * 2 > list.length ? median(all(name)) : null;
  const back = medianOf('back');
  return { error: medianOf('heard'), back, overBoot: back === null ? null : back - boot };
}
