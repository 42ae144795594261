import { expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { startBridge } from '../support/bridge.js';
import { HAS_PROC, makeHome, startHerd } from '../support/herd.js';
import { openFiles } from '../support/processes.js';

it.runIf(HAS_PROC)('SIGUSR1 does not make the daemon open a debugger port', async () => {
  const { daemon, fleet } = await startHerd(config([server('good', 'good.mjs')]));
  const before = openFiles(daemon.pid);
  process.kill(daemon.pid, 'SIGUSR1');
  // Node opens the port before it serves the next request
  for (let count = 0; count < 10; count += 1) await fleet.status();
  expect(openFiles(daemon.pid)).toEqual(before);
});

it('SIGUSR1 does not make a bridge open a debugger port', async () => {
  const home = makeHome(config([]));
  await home.start();
  const { child, say, reply, exit } = startBridge(home);
  let stderr = '';
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const ping = async (id: number) => {
    say({ id, method: 'ping' });
    await reply(id);
  };
  await ping(1);
  child.kill('SIGUSR1');
  for (let id = 2; id < 12; id += 1) await ping(id);
  child.stdin?.end();
  expect(await exit).toBe(0);
  expect(stderr).toBe('');
});
