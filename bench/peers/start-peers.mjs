// Starts the peers of one comparison, each with an agent. A peer that fails is left out, and the reason is printed.
import { openAgent } from '../systems/agent.mjs';

export async function startPeers(
  /** @type {Bench.Peer[]} */ peers,
  /** @type {string[]} */ names,
  /** @type {Bench.Note} */ note,
) {
  const attending = [];
  for (const peer of peers) {
    let system;
    try {
      system = await peer.start(names);
      const agent = await openAgent(system.transport, system.agentOptions);
      attending.push({ name: peer.name, system, agent });
    } catch (error) {
      note(`left out here: ${peer.name}: ${firstLine(error)}`);
      await system?.close();
    }
  }
  return attending;
}

/** Without the paths of this machine: it may end up in the docs. */
export const firstLine = (/** @type {any} */ error) =>
  error.message.split('\n')[0].replace(/(\/[\w.@+-]+){2,}/g, '…');
