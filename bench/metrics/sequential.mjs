// One call after the other, and 64 at once on one server and over eight.
import { interleave, median, quantile } from '../numbers.mjs';
import { namesOf } from '../systems/servers.mjs';
import { startAll } from '../systems/start-all.mjs';

const IN_FLIGHT = 64;
/** Few agents ever make more calls than in these, and V8 has not made anybody's code fast by then. */
const EARLY_ROUNDS = 4;

export async function measureSequential({ rounds, calls, peers, note }) {
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

export async function measureThroughput({ rounds, calls, peers, note }) {
  const names = namesOf(8);
  const line = await startAll(names, peers, note);
  const perSecond = async (servers) => {
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
