// `npm run demo`: ten seconds with a herd: a start, parallel calls, a kill -9, the typed error, the restart, a clean end.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const { connect } = await import(join(root, 'dist', 'client.js'));
const home = mkdtempSync(join(tmpdir(), 'toolherd-demo-'));
copyFileSync(join(import.meta.dirname, 'config.yaml'), join(home, 'config.yaml'));
const env = { ...process.env, TOOLHERD_HOME: home, TOOLHERD_PROJECT: root };

function toolherd(/** @type {string[]} */ ...args) {
  const command = join(root, 'dist', 'bin', 'main.cjs');
  const { status } = spawnSync(process.execPath, [command, ...args], { stdio: 'inherit', env, cwd: home });
  return status;
}
const say = (/** @type {string} */ text) => console.log(`\n== ${text}`);

say('a daemon, and three servers that start together');
toolherd('up');
toolherd('start', '--all', '--wait');

const fleet = await connect({ socket: join(home, 'run', 'toolherd.sock') });
try {
  say('30 calls at once, 10 to each server');
  const names = ['everything', 'files', 'memory'];
  /** @type {Record<string, [string, object]>} */
  const tools = {
    everything: ['echo', { message: 'hi' }],
    files: ['list_allowed_directories', {}],
    memory: ['read_graph', {}],
  };
  const begun = performance.now();
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, index) => {
      const server = names[index % 3];
      const [tool, args] = tools[server];
      return fleet.call(server, tool, args);
    }),
  );
  const good = results.filter((result) => result.success).length;
  console.log(`${good} of ${results.length} answered in ${Math.round(performance.now() - begun)} ms`);

  say('kill -9 of one server in the middle of a call');
  const { servers } = await fleet.status(['everything']);
  const call = fleet.call('everything', 'trigger-long-running-operation', { duration: 5, steps: 5 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const killedAt = performance.now();
  process.kill(-servers[0].pids[0], 'SIGKILL');
  const { error } = await call;
  console.log(
    `the caller knows after ${Math.round(performance.now() - killedAt)} ms: ${error.type}: ${error.message}`,
  );
  console.log(`sent: ${error.sent} (${error.why})`);

  say('the next call is served by a new process');
  const again = await fleet.call('everything', 'echo', { message: 'back again' });
  console.log(`${again.text()} (incarnation ${again.metadata.incarnation})`);
  toolherd('status');
} finally {
  await fleet.close();
  say('a clean end');
  toolherd('down');
  rmSync(home, { recursive: true, force: true });
}
