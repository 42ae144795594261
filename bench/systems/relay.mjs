// The minimal relay, started.
import { once } from 'node:events';
import { join } from 'node:path';
import { end, makeFolder, removeFolder, startFork } from '../processes.mjs';

export async function startRelay(names) {
  const folder = makeFolder();
  const path = join(folder, 'relay.sock');
  const child = startFork(join(import.meta.dirname, '..', 'relay.mjs'), [path, ...names]);
  await once(child, 'message');
  return {
    pid: child.pid,
    way: { kind: 'socket', path },
    async close() {
      await end(child);
      removeFolder(folder);
    },
  };
}
