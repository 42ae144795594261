// Starts all systems of one comparison, each with its own agent. A peer that cannot start is left out, with the reason.
import { startPeers } from '../peers/start-peers.mjs';
import { openAgent } from './agent.mjs';
import { startRelay, startRelayOfSessions, startTunedRelay } from './relay.mjs';
import { childrenOf } from './servers.mjs';
import { startToolherd } from './toolherd.mjs';

export async function startAll(names, peers, note) {
  const [herd, relay] = [await startToolherd(names), await startRelay(names)];
  const [tuned, sessions] = [await startTunedRelay(names), await startRelayOfSessions(names)];
  const ways = {
    'raw pipe': { kind: 'pipe', servers: childrenOf(names) },
    relay: relay.way,
    'tuned relay': tuned.way,
    'relay, servers in sessions': sessions.way,
    'SDK, own child': { kind: 'sdk', servers: childrenOf(names) },
    'toolherd, socket': herd.ways.mcp,
    'toolherd, fleet/call': herd.ways.fleet,
    'toolherd, library': herd.ways.library,
    'toolherd, bridge with SDK': herd.ways.bridge,
  };
  const agents = {};
  for (const [name, way] of Object.entries(ways)) agents[name] = await openAgent(way);
  const attending = await startPeers(peers, names, note);
  for (const { name, agent } of attending) agents[name] = agent;
  const isPeer = new Set(attending.map(({ name }) => name));
  return {
    agents,
    /** How many of so many calls a system makes in a round: peers that take ten times as long make fewer. */
    share: (calls, name) => (isPeer.has(name) ? Math.ceil(calls / 5) : calls),
    herd,
    relay,
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.close()));
      await Promise.all(
        [herd, relay, tuned, sessions, ...attending.map(({ system }) => system)].map((system) =>
          system.close(),
        ),
      );
    },
  };
}
