// The minimal relay, started; the same with sessions; or the tuned one.
import { once } from 'node:events';
import { join } from 'node:path';
import { end, makeFolder, removeFolder, startFork } from '../children.mjs';

export const startTunedRelay = (/** @type {string[]} */ names) => startRelay(names, ['tuned-relay.mjs']);
/** Its children lead sessions of their own, as toolherd's do. */
export const startRelayOfSessions = (/** @type {string[]} */ names) =>
  startRelay(names, ['relay.mjs', '--sessions']);

/**
 * @param {string[]} names
 * @param {string[]} command a file of bench/ and its flags
 */
export async function startRelay(names, [file, ...flags] = ['relay.mjs']) {
  const folder = makeFolder();
  const path = join(folder, 'relay.sock');
  const child = startFork(join(import.meta.dirname, '..', file), [...flags, path, ...names]);
  await once(child, 'message');
  return {
    pid: child.pid,
    transport: { kind: 'socket', path },
    async close() {
      await end(child);
      removeFolder(folder);
    },
  };
}
