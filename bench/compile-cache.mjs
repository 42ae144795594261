// What NODE_COMPILE_CACHE brings: server-memory from its spawn to its answer to `initialize`, with and without, in turn. The time
// of the processor counts where other programs run too.
// Usage: node bench/compile-cache.mjs [22 24 …]   (lines of Node; they come from npm and are kept in .cache/)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, installNode } from '../scripts/shared/install.mjs';
import { environment, makeFolder, removeFolder } from './children.mjs';
import { median } from './numbers.mjs';

const ROUNDS = 25;
const PACKAGE = '@modelcontextprotocol/server-memory';
const lines = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26'];

const { folder } = install(`${PACKAGE}@2026`, { folder: 'bench/server-memory' });
const home = join(folder, 'node_modules', PACKAGE);
const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const program = join(home, /** @type {string} */ (Object.values(bin)[0]));
const params = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};
const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;

/** Milliseconds that all threads of a process have run. */
function processorMs(/** @type {number} */ pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds) / 1e6, 0);
}

/** From the spawn to the first line. */
async function start(/** @type {string} */ node, /** @type {NodeJS.ProcessEnv} */ more) {
  const begun = performance.now();
  const child = spawn(node, [program], {
    env: { ...environment, ...more },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.write(request);
  await once(child.stdout, 'data');
  const times = { ms: performance.now() - begun, processor: processorMs(/** @type {number} */ (child.pid)) };
  // as toolherd stops a server: Node keeps what it has compiled when it exits, and not when a signal ends it
  child.stdin.end();
  const late = setTimeout(() => child.kill('SIGTERM'), 2000);
  await once(child, 'close');
  clearTimeout(late);
  return times;
}

for (const line of lines) {
  const node = installNode(line);
  const cache = makeFolder();
  /** @type {{ ms: number, processor: number }[][]} */
  const [without, within] = [[], []];
  try {
    for (let round = -2; round < ROUNDS; round += 1) {
      const plain = await start(node, {});
      const cached = await start(node, { NODE_COMPILE_CACHE: cache });
      if (round < 0) continue;
      without.push(plain);
      within.push(cached);
    }
  } finally {
    removeFolder(cache);
  }
  const shown = [without, within].map((list) => {
    const [ms, processor] = [list.map((one) => one.ms), list.map((one) => one.processor)].map(median);
    return `${Math.round(ms)} ms (processor ${Math.round(processor)} ms)`;
  });
  console.log(`Node ${line}, medians of ${ROUNDS} starts: ${shown[0]} without, ${shown[1]} with the cache`);
}
