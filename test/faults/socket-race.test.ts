import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectFleet as connect } from '../../src/library/connect-fleet.js';
import { toolherd } from '../support/command.js';
import { type Home, isAlive, killDaemon, makeHome, startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

const command = (home: Home, ...args: string[]) =>
  toolherd(args, { cwd: home.folder, env: home.environment });

describe('S1: of daemons that race for one socket one wins', () => {
  it('one daemon of six wins each round, also over a stale socket; the losers report it and start no server', async () => {
    const home = makeHome(config([server('one', 'good.mjs', { start: 'eager' })]));
    const barrier = join(home.folder, 'barrier.cjs');
    writeFileSync(
      barrier,
      `const { existsSync } = require('node:fs');
       const cell = new Int32Array(new SharedArrayBuffer(4));
       while (!existsSync(process.env.TOOLHERD_HOME + '/go')) Atomics.wait(cell, 0, 0, 1);`,
    );
    const deadline = performance.now() + (process.env.TOOLHERD_LONG ? 240_000 : 6000);
    let rounds = 0;
    for (; rounds < 3 || (rounds < 50 && performance.now() < deadline); rounds += 1) {
      await rm(join(home.folder, 'go'), { force: true });
      const six = Array.from({ length: 6 }, () => home.launch({ node: ['--require', barrier] }));
      writeFileSync(join(home.folder, 'go'), '');
      const said = await Promise.all(six.map(({ readiness }) => readiness));
      const winners = said.flatMap((one) => (one?.ready === true ? [one.pid] : []));
      expect(winners).toHaveLength(1);
      const [winner = 0] = winners;
      for (const one of said.filter((other) => other?.ready !== true)) {
        expect(one).toMatchObject({ ready: false, error: { type: 'AlreadyRunningError' } });
        expect(one?.ready === false && one.error.message).toBe(
          `a daemon already serves ${home.socket} (pid ${winner})`,
        );
      }
      const daemon = home.adopt(winner);
      const fleet = await connect({ socket: home.socket });
      const { servers, daemon: serving } = await fleet.status();
      fleet.close();
      expect(serving.pid).toBe(winner);
      expect(servers[0]?.pids.length).toBeLessThanOrEqual(1);
      const losers = six.filter(({ pid }) => pid !== winner);
      expect(await Promise.all(losers.map(({ exit }) => exit))).toEqual(
        losers.map(() => ({ code: 1, signal: null })),
      );
      // the socket and the lock file stay behind for the next six
      await killDaemon(home, daemon);
      expect(existsSync(home.socket)).toBe(true);
    }
    expect(rounds).toBeGreaterThanOrEqual(process.env.TOOLHERD_LONG ? 50 : 3);
    measured(`S1: one owner in ${rounds} of ${rounds} races of six`);
  }, 300_000);

  it('each of several commands that start it at once is served', async () => {
    const home = makeHome(config([server('one', 'good.mjs')]));
    const outcomes = await Promise.all([
      command(home, 'up', '--json'),
      command(home, 'call', 'one.echo', 'value=here'),
      command(home, 'call', 'one.echo', 'value=there'),
      command(home, 'up', '--json'),
    ]);
    const { pid } = JSON.parse((await command(home, 'status', '--json')).stdout).daemon as { pid: number };
    home.adopt(pid);
    expect(outcomes.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(outcomes.slice(1, 3).map(({ stdout }) => stdout.trim())).toEqual(['here', 'there']);
  });
});

describe('up --replace', () => {
  it('waits until the old daemon has released the socket and the lock', async () => {
    const { home, daemon } = await startHerd(config([server('one', 'good.mjs', { start: 'eager' })]));
    const pids = [daemon.pid];
    for (let round = 0; round < 3; round += 1) {
      const { status, stdout } = await command(home, 'up', '--replace', '--json');
      const { pid, already_running } = JSON.parse(stdout) as { pid: number; already_running: boolean };
      expect({ status, already_running }).toEqual({ status: 0, already_running: false });
      expect(pids).not.toContain(pid);
      pids.push(home.adopt(pid).pid);
    }
    await until(() => pids.filter(isAlive).length === 1);
  });
});
