import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeOwnState } from '../../src/library/own-state.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { fixturePath } from '../faults/config.js';
import { zombie } from '../processes/stand-in.js';
import { makeFolder } from '../support/folder.js';
import { isAlive, killNow, until } from '../support/herd.js';

const DOCKER = fixturePath('bin/docker');
const COOKIE = 'dead-daemon:1';

/** A home with the state of a herd whose process was killed, and with the container that this herd has left. */
async function killedHerd() {
  const home = makeFolder({});
  const environment = { PATH: process.env.PATH, HOME: home, TOOLHERD_HOME: home };
  const label = `toolherd.cookie=${COOKIE}`;
  const client = spawn(DOCKER, ['run', '--label', label, 'image'], { env: environment, stdio: 'pipe' });
  // the client serves MCP when its container is noted
  client.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(client.stdout, 'data');
  const containers = join(home, 'containers');
  const [id = ''] = readdirSync(containers);
  const { pid } = JSON.parse(readFileSync(join(containers, id), 'utf8')) as { pid: number };
  onTestFinished(() => killNow(pid));
  const exited = once(client, 'exit');
  client.kill('SIGKILL');
  await exited;
  const folder = join(home, 'state', 'fleets', `${client.pid}-abcd`);
  mkdirSync(folder, { recursive: true });
  const header = { ledger: 1, daemonId: 'dead-daemon', pid: client.pid, startTime: null };
  const came = { pid: client.pid, name: 'boxed', cookie: COOKIE, startTime: null, docker: [DOCKER] };
  writeFileSync(join(folder, 'ledger'), `${JSON.stringify(header)}\n${JSON.stringify({ came })}\n`);
  return { home, environment, paths: findPaths(environment, home), folder, container: pid };
}

it('A herd removes the containers and the folder of a herd whose process was killed', async () => {
  const { environment, paths, folder, container } = await killedHerd();
  expect(isAlive(container)).toBe(true);
  const state = await makeOwnState(paths, environment);
  // a process lives on for a moment after its SIGKILL
  await until(() => !isAlive(container));
  expect(existsSync(folder)).toBe(false);
  state.remove();
});

it('A folder is kept until docker has removed the containers that its ledger lists', async () => {
  const { home, environment, paths, folder, container } = await killedHerd();
  const refusal = join(home, 'containers.fails');
  writeFileSync(refusal, '');
  (await makeOwnState(paths, environment)).remove();
  expect(existsSync(folder)).toBe(true);
  rmSync(refusal);
  (await makeOwnState(paths, environment)).remove();
  // a process lives on for a moment after its SIGKILL
  await until(() => !isAlive(container));
  expect(existsSync(folder)).toBe(false);
});

it.runIf(process.platform === 'linux')('A herd whose process is a zombie counts as dead', async () => {
  const { environment, paths, folder, container } = await killedHerd();
  const pid = await zombie();
  const renamed = join(dirname(folder), `${pid}-abcd`);
  renameSync(folder, renamed);
  (await makeOwnState(paths, environment)).remove();
  await until(() => !isAlive(container));
  expect(existsSync(renamed)).toBe(false);
});
