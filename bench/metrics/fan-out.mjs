// 1,000 calls at once.
import { interleave, median } from '../numbers.mjs';
import { openAgent } from '../systems/agent.mjs';
import { startRelay } from '../systems/relay.mjs';
import { namesOf } from '../systems/servers.mjs';
import { startToolherd } from '../systems/toolherd.mjs';

export async function measureFanOut(/** @type {Bench.MetricOptions} */ { rounds, calls = 1000 }) {
  const servers = namesOf(8);
  const [herd, relay] = [await startToolherd(servers), await startRelay(servers)];
  /** @type {Record<string, [Bench.TransportOptions, boolean?]>} */
  const transports = {
    relay: [relay.transport],
    'toolherd, socket': [herd.transports.mcp],
    'toolherd, fleet/call_many': [herd.transports.fleet, true],
  };
  /** @type {Record<string, { agent: Bench.Agent, inOne: boolean | undefined }>} */
  const systems = {};
  for (const [name, [transport, inOne]] of Object.entries(transports))
    systems[name] = { agent: await openAgent(transport), inOne };
  try {
    const run = (/** @type {{ agent: Bench.Agent, inOne: boolean }} */ { agent, inOne }) =>
      agent.ask('fanOut', { calls, servers, inOne });
    const list = await interleave({ rounds, warmups: 3, systems, run });
    return {
      fanOut: {
        calls,
        ms: Object.fromEntries(Object.entries(list).map(([name, all]) => [name, median(all)])),
      },
    };
  } finally {
    await Promise.all(Object.values(systems).map(({ agent }) => agent.close()));
    await Promise.all([herd.close(), relay.close()]);
  }
}
