// 1,000,000 calls through one daemon: what it holds afterwards, against before.
import { once } from 'node:events';
import { join } from 'node:path';
import { openAgent } from '../systems/agent.mjs';
import { startToolherd } from '../systems/toolherd.mjs';

const PROBE = join(import.meta.dirname, '..', 'probe.cjs');
const PART = 50_000;
/** What is kept of recent calls (latencies, the journal) has its full size after these. */
const WARM = 50_000;

export async function measureMillion(/** @type {Bench.MetricOptions} */ { calls = 1_000_000, note }) {
  const herd = await startToolherd(['e0'], { node: ['--expose-gc', '--require', PROBE], channel: true });
  const probe = async () => {
    herd.child.send('count');
    const [counted] = await once(herd.child, 'message');
    return counted;
  };
  const agents = [await openAgent(herd.transports.mcp), await openAgent(herd.transports.fleet)];
  const flood = (/** @type {number} */ count) =>
    Promise.all(
      agents.map((agent) => agent.ask('flood', { calls: count / 2, inFlight: 32, servers: ['e0'] })),
    );
  try {
    await flood(WARM);
    const before = await probe();
    const begun = performance.now();
    /** @type {Record<number, number>} */
    const heaps = {};
    for (let done = 0; done < calls; done += PART) {
      await flood(PART);
      heaps[done + PART] = (await probe()).heap;
      note(`${done + PART} calls`);
    }
    const after = await probe();
    return { million: { calls, seconds: (performance.now() - begun) / 1000, before, after, heaps } };
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    await herd.close();
  }
}
