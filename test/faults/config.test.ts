import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { isAlive, startHerd, until } from '../support/herd.js';
import { config, lines, server } from './config.js';
import { measured } from './measured.js';

const named = (name: string, value = '') => server(name, 'good.mjs', { env: { VALUE: value } });
/** Undefined if the call came at the moment of the change and got an error. */
const valueIn = (environment: string) =>
  environment.startsWith('{') ? (JSON.parse(environment) as { VALUE?: string }).VALUE : undefined;

/** The daemon waits a little longer for a file to rest. */
const QUIET_MS = 150;

class LongestPause {
  ms = 0;
  #at = performance.now();

  goesOn(): void {
    const now = performance.now();
    this.ms = Math.max(this.ms, now - this.#at);
    this.#at = now;
  }
}

describe('a config that changes while the daemon runs', () => {
  it('is applied to the servers it touches, and to no other', async () => {
    const { home, fleet, say, status } = await startHerd(
      config([named('kept'), named('changed', 'before'), named('removed')]),
    );
    const pids = {
      kept: Number(await say('kept', 'pid')),
      changed: Number(await say('changed', 'pid')),
      removed: Number(await say('removed', 'pid')),
    };
    home.configure(config([named('kept'), named('changed', 'after'), named('added')]));
    await until(async () => (await fleet.status()).servers.some(({ name }) => name === 'added'));
    expect((await fleet.status()).servers.map(({ name }) => name)).toEqual(['kept', 'changed', 'added']);
    expect(Number(await say('kept', 'pid'))).toBe(pids.kept);
    expect((await status('kept')).incarnation).toBe(1);
    expect(valueIn(await say('changed', 'env'))).toBe('after');
    expect(isAlive(pids.changed)).toBe(false);
    await until(() => !isAlive(pids.removed));
    expect((await fleet.call({ server: 'removed', tool: 'pid' })).error?.type).toBe('ServerNotFoundError');
    expect(await say('added', 'echo', { value: 'new' })).toBe('new');
  });

  it('is applied when its file is replaced by another, as editors do', async () => {
    const { home, fleet, say } = await startHerd(config([named('one', 'before')]));
    expect(valueIn(await say('one', 'env'))).toBe('before');
    for (const value of ['first', 'second']) {
      const draft = join(home.folder, 'config.yaml.new');
      writeFileSync(draft, config([named('one', value)]));
      renameSync(draft, home.configFile);
      await until(async () => valueIn(await say('one', 'env')) === value);
    }
    expect((await fleet.status()).daemon.config_error).toBeNull();
  });

  it('a broken config leaves the servers running, and status has the problem', async () => {
    const good = config([named('one')]);
    const { home, fleet, say, status } = await startHerd(good);
    const pid = await say('one', 'pid');
    for (const bad of [
      'mcp_servers: [',
      good.replace('"1.0"', '"9.9"'),
      config([{ ...named('one'), max_restarts: -1 }]),
      '',
    ]) {
      home.configure(bad);
      const problem = await until(async () => (await fleet.status()).daemon.config_error);
      expect(problem).toContain('config.yaml');
      expect(await say('one', 'pid')).toBe(pid);
      home.configure(good);
      await until(async () => (await fleet.status()).daemon.config_error === null || undefined);
    }
    expect(await say('one', 'pid')).toBe(pid);
    expect((await status('one')).incarnation).toBe(1);
    await expect(fleet.reload()).resolves.toMatchObject({ unchanged: ['one'] });
    home.configure('mcp_servers: [');
    await expect(fleet.reload()).rejects.toMatchObject({ type: 'ConfigError' });
  });

  it('a config that is gone leaves the servers running, and is applied again when it is back', async () => {
    const good = config([named('one')]);
    const { home, fleet, say } = await startHerd(good);
    const pid = await say('one', 'pid');
    rmSync(home.configFile);
    const problem = await until(async () => (await fleet.status()).daemon.config_error);
    expect(problem).toContain('The file is gone');
    await expect(fleet.reload()).rejects.toMatchObject({ type: 'ConfigError' });
    expect(await say('one', 'pid')).toBe(pid);
    home.configure(config([named('one'), named('two')]));
    await until(async () => (await fleet.status()).servers.length === 2);
    expect((await fleet.status()).daemon.config_error).toBeNull();
    expect(await say('one', 'pid')).toBe(pid);
    home.configure('version: "1.0"\n');
    await until(async () => (await fleet.status()).servers.length === 0);
  });

  it('a config that is gone does not keep an agent from the servers of its agent file', async () => {
    const { home, fleet } = await startHerd(config([named('one')]));
    const file = join(home.folder, 'agent.yaml');
    writeFileSync(
      file,
      'tools: [{type: mcp, name: own, description: d, server: s, command: npx, args: [x]}]\n',
    );
    rmSync(home.configFile);
    await until(async () => (await fleet.status()).daemon.config_error);
    const agent = await connectFleet({ socket: home.socket, agent: file });
    try {
      const names = (await agent.status()).servers.flatMap(({ name, other_view }) =>
        other_view ? [] : [name],
      );
      expect(names).toEqual(['own']);
    } finally {
      agent.close();
    }
  });

  it('C1: is never applied half-written, in two hundred writes', async () => {
    const names = ['a', 'b', 'c', 'd'];
    // every line more is a good config with one server more
    const text = (round: number) =>
      lines([...names.map((name) => named(name)), named('last', String(round))]);
    const { home, fleet, say, status } = await startHerd(text(0).join(''));
    await say('a', 'pid');
    const isApplied = (round: number) => async () =>
      valueIn(await say('last', 'env')) === String(round) || undefined;
    const seen = new Set<string>();
    let proven = 0;
    let slow = 0;
    let round = 0;
    while (proven < 200) {
      round += 1;
      const { incarnation } = await status('a');
      const writing = new LongestPause();
      const file = openSync(home.configFile, 'w');
      for (const line of text(round)) {
        writeSync(file, line);
        writing.goesOn();
        await setImmediate();
      }
      closeSync(file);
      if (round % 4 === 0) await sleep(20);
      const { servers } = await fleet.status();
      writing.goesOn();
      // a file that is quiet for longer counts as written: such a round proves nothing
      if (writing.ms > QUIET_MS) {
        slow += 1;
        await until(isApplied(round));
        continue;
      }
      proven += 1;
      seen.add(servers.map(({ name }) => name).join());
      expect(servers[0]).toMatchObject({ incarnation });
    }
    await until(isApplied(round));
    expect((await fleet.status()).daemon.config_error).toBeNull();
    expect([...seen]).toEqual(['a,b,c,d,last']);
    measured(`C1: ${proven} times, never half applied (${slow} more were written too slowly to count)`);
  }, 120_000);

  it('C1: a config that is truncated inside of an entry leaves the old config in use', async () => {
    const whole = lines(['a', 'b', 'c'].map((name) => named(name))).join('');
    const { home, fleet, say } = await startHerd(whole);
    const pid = await say('c', 'pid');
    // inside of its last entry: a file that ends with a whole one is a config
    const begin = whole.lastIndexOf('\n  - {') + 6;
    const step = Math.floor((whole.length - 2 - begin) / 12);
    const cuts = Array.from({ length: 12 }, (_, at) => begin + at * step);
    for (const cut of cuts) {
      home.configure(whole.slice(0, cut));
      await expect(fleet.reload()).rejects.toMatchObject({ type: 'ConfigError' });
      expect((await fleet.status()).servers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    }
    home.configure(whole);
    expect(await fleet.reload()).toMatchObject({ unchanged: ['a', 'b', 'c'] });
    expect(await say('c', 'pid')).toBe(pid);
  });
});

describe('SIGHUP', () => {
  it('makes the daemon read everything again, also files that the config names', async () => {
    const entry = server('one', 'good.mjs', { envFile: '.env' });
    const other = named('other');
    const { home, daemon, fleet, say } = await startHerd(config([{ ...entry, enabled: false }, other]));
    const pid = await say('other', 'pid');
    writeFileSync(join(home.folder, '.env'), 'VALUE=before\n');
    home.configure(config([entry, other]));
    await fleet.reload();
    expect(valueIn(await say('one', 'env'))).toBe('before');
    writeFileSync(join(home.folder, '.env'), 'VALUE=after\n');
    daemon.kill('SIGHUP');
    await until(async () => valueIn(await say('one', 'env')) === 'after');
    expect(await say('other', 'pid')).toBe(pid);
    expect(isAlive(daemon.pid)).toBe(true);
  });
});
