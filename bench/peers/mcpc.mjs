// mcpc: a process in the background for each server, made by one run of its command each.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { install } from '../../scripts/shared/install.mjs';
import { environment, makeFolder, onEnd, removeFolder } from '../children.mjs';
import { familyOf, processesWith } from '../proc-stats.mjs';
import { namesIn, writeServersConfig } from '../systems/servers.mjs';

const run = promisify(execFile);

export function findMcpc() {
  // its library for payments, which nothing here uses, asks in its newest version for a package that not every registry has
  const { folder, version } = install('@apify/mcpc@0.2.6', {
    folder: 'bench/mcpc',
    manifest: { overrides: { viem: '2.46.3' } },
    env: environment,
  });
  const cli = join(folder, 'node_modules/@apify/mcpc/bin/mcpc');

  async function launch(/** @type {Bench.Commands} */ servers) {
    const home = makeFolder();
    const config = writeServersConfig(home, servers);
    const options = { cwd: home, env: { ...environment, HOME: home, MCPC_HOME_DIR: join(home, 'mcpc') } };
    const mcpc = (/** @type {string[]} */ ...args) =>
      run(process.execPath, [cli, ...args], options).catch(({ stderr, message }) => {
        throw new Error(stderr.trim().split('\n').at(-1) || message);
      });
    const pids = () => {
      const { sessions } = JSON.parse(readFileSync(join(home, 'mcpc', 'sessions.json'), 'utf8'));
      return Object.fromEntries(Object.entries(sessions).map(([name, { pid }]) => [name, pid]));
    };
    // its processes are not children of this one: they are found by the home folder in their environment
    const close = async () => {
      forget();
      for (const pid of processesWith(`MCPC_HOME_DIR=${options.env.MCPC_HOME_DIR}`).flatMap(familyOf)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // it has ended
        }
      }
      removeFolder(home);
    };
    const forget = onEnd(close);
    try {
      for (const name of namesIn(servers)) await mcpc('connect', `${config}:${name}`, `@${name}`);
    } catch (error) {
      await close();
      throw error;
    }
    const sockets = Object.entries(pids()).map(([session, pid]) => [
      session.slice(1),
      join(home, 'mcpc', 'bridges', `${session}.${pid}.sock`),
    ]);
    return {
      pids: Object.values(pids()),
      transport: { kind: 'mcpc', folder, sockets: Object.fromEntries(sockets) },
      command: {
        command: process.execPath,
        args: [cli, '@e0', 'tools-call', 'echo', 'text:=hi'],
        options,
      },
      close,
    };
  }

  return {
    name: 'mcpc',
    version,
    mostServers: 20,
    start: launch,
    async startTime(/** @type {Bench.Commands} */ servers) {
      const begun = performance.now();
      const system = await launch(servers);
      const ms = performance.now() - begun;
      await system.close();
      return ms;
    },
  };
}
