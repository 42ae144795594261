// The peers that can be had here; of the others, why not.

import { findHub } from './mcp-hub.mjs';
import { findMcpc } from './mcpc.mjs';
import { findMcporter } from './mcporter.mjs';
import { firstLine } from './start-peers.mjs';

export async function findPeers(/** @type {Bench.Note} */ note) {
  /** @type {Bench.Peer[]} */
  const peers = [];
  /** @type {Record<string, string>} */
  const without = {};
  for (const [name, find] of Object.entries({ mcporter: findMcporter, 'mcp-hub': findHub, mcpc: findMcpc })) {
    try {
      const peer = find();
      peers.push(peer);
      await (await peer.start(['e0'])).close();
    } catch (error) {
      without[name] = `could not be installed or started: ${firstLine(error)}`;
      note(`left out: ${name}: ${without[name]}`);
      if (peers.at(-1)?.name === name) peers.pop();
    }
  }
  return { peers, without };
}
