// A fresh process for each call, with a spare that is ready and without, against one process for all calls.
import { interleave, median } from '../numbers.mjs';
import { openAgent } from '../systems/agent.mjs';
import { startToolherd } from '../systems/toolherd.mjs';
import { connectLines } from '../transports/lines.mjs';

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Nothing of what the call before has left to do (a process that goes, its successor) falls into the next one. */
const REST_MS = 250;

export async function measureTransient(/** @type {Bench.MetricOptions} */ { rounds }) {
  const herd = await startToolherd({
    singleton: {},
    spare: { lifecycle: 'transient', spares: 1 },
    fresh: { lifecycle: 'transient' },
  });
  const agent = await openAgent(herd.transports.mcp);
  const { lines, socket } = await connectLines(herd.path);
  const used = new Set();
  /** Until the spare has shaken hands: it is connected, and it is another process than before. */
  const spareIsReady = async () => {
    for (; ; await sleep(5)) {
      const { servers } = await lines.request('fleet/status', { servers: ['spare'] });
      const [{ pids, state }] = servers;
      if (state === 'connected' && pids.length === 1 && !used.has(pids[0])) return void used.add(pids[0]);
    }
  };
  try {
    await agent.ask('sequential', { calls: 300, server: 'singleton' });
    const list = await interleave({
      rounds,
      warmups: 2,
      systems: { singleton: 'singleton', 'a spare is ready': 'spare', 'no spares': 'fresh' },
      run: async (server) => {
        if (server === 'spare') await spareIsReady();
        await sleep(REST_MS);
        const [ms] = await agent.ask('sequential', { calls: 1, server });
        return ms;
      },
    });
    const entries = Object.entries(list).map(([name, all]) => [name, median(all)]);
    return { transient: Object.fromEntries(entries) };
  } finally {
    socket.destroy();
    await agent.close();
    await herd.close();
  }
}
