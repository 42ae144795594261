import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { type BusyBridge, startBridge, startBusyBridge } from '../../../support/bridge.js';
import { type Outcome, toolherd } from '../../../support/command.js';
import { serving, servingPid, startForeground } from '../../../support/foreground.js';
import { type Home, isAlive, killDaemon, makeHome, processesOf, until } from '../../../support/herd.js';
import { slowServer, startSlow } from '../../../support/slow-server.js';

/** A server that shows a variable of the daemon's environment. */
const HERD = config([server('good', 'good.mjs', { env: { WHO: '${WHO:-none}' } })]);

const run = (home: Home, who: string, ...args: string[]) =>
  toolherd(args, { cwd: home.folder, env: { ...home.environment, WHO: who } });

/** Whose environment the daemon has that serves. */
async function whoServes(home: Home): Promise<string | undefined> {
  const { stdout } = await run(home, 'call', 'call', 'good.env', '--no-autostart');
  return (JSON.parse(stdout) as { WHO?: string }).WHO;
}

async function runUp(home: Home, who: string, ...flags: string[]) {
  const { status, stdout } = await run(home, who, 'up', '--json', ...flags);
  const { pid, already_running, servers } = JSON.parse(stdout) as {
    pid: number;
    already_running: boolean;
    servers: number;
  };
  return { status, pid, already_running, servers };
}

function namesIn(status: string): string[] {
  return (JSON.parse(status) as { servers: { name: string }[] }).servers.map(({ name }) => name);
}

/** The same for a daemon that serves until the test ends it. */
async function upJson(home: Home, who: string, ...flags: string[]) {
  const up = await runUp(home, who, ...flags);
  if (up.status === 0 && up.pid !== undefined) home.adopt(up.pid);
  return up;
}

async function beginBusy(count = 3) {
  const home = makeHome(HERD);
  const first = await upJson(home, 'first');
  const bridges: BusyBridge[] = [];
  for (let at = 0; at < count; at += 1) bridges.push(await startBusyBridge(home, { env: { WHO: 'bridge' } }));
  return { home, first, bridges };
}

const ECHO = {
  ...{ id: 2, method: 'tools/call' },
  params: { name: 'good__echo', arguments: { value: 'kept' } },
};

/** A daemon that takes 10 s to end, because one of its servers ignores orders; and a bridge to it. */
async function beginSlow() {
  const good = server('good', 'good.mjs', { env: { WHO: '${WHO:-none}' } });
  const home = makeHome(config([good, slowServer()]));
  const { pid } = await upJson(home, 'first');
  const bridge = startBridge(home, { env: { WHO: 'bridge' } });
  bridge.say({ id: 1, method: 'ping' });
  await bridge.reply(1);
  const slow = await startSlow(home);
  const log = join(home.folder, 'state', 'logs', 'daemon.log');
  const isOrdered = (reason: 'shutdown' | 'replaced') =>
    until(() => readFileSync(log, 'utf8').includes(`"reason":"${reason}"`));
  const isBeingReplaced = async () => {
    await isOrdered('replaced');
    // the bridge reads the notice within a few milliseconds
    await sleep(200);
    expect(await servingPid(home)).toBe(pid);
  };
  return { home, pid, bridge, slow, isOrdered, isBeingReplaced };
}

/** Every bridge has made progress since. */
async function allServed(bridges: readonly BusyBridge[]): Promise<void> {
  const before = bridges.map((bridge) => bridge.served());
  await until(() => bridges.every((bridge, at) => bridge.served() > before[at]! + 2));
}

describe('up --replace beside busy bridges', () => {
  it('the daemon that serves afterwards is the one that up started, with its environment, in every round', async () => {
    const { home, first, bridges } = await beginBusy();
    const pids = [first.pid];
    for (let round = 0; round < 5; round += 1) {
      const { status, pid, already_running } = await upJson(home, `up-${round}`, '--replace');
      expect({ round, status, already_running }).toEqual({ round, status: 0, already_running: false });
      expect({ round, pid: await servingPid(home), who: await whoServes(home) }).toEqual({
        round,
        pid,
        who: `up-${round}`,
      });
      pids.push(pid);
      await allServed(bridges);
    }
    expect(new Set(pids).size).toBe(6);
    await until(() => pids.filter(isAlive).length === 1);
    await Promise.all(bridges.map((bridge) => bridge.rest()));
    // each call has exactly one answer
    for (const { lines } of bridges) {
      const ids = lines.flatMap(({ id }) => (id === undefined ? [] : [id]));
      expect(ids.length).toBe(new Set(ids).size);
    }
  });

  it('the command line of the service takes over as one process, in every round', async () => {
    const { home, bridges } = await beginBusy();
    for (let round = 0; round < 4; round += 1) {
      const unit = startForeground(home, { flags: ['--replace'], env: { WHO: `unit-${round}` } });
      const daemon = await serving(home, (pid) => pid === unit.pid);
      expect({ round, who: await whoServes(home) }).toEqual({ round, who: `unit-${round}` });
      await allServed(bridges);
      // the next one is started by a command, as a user may do it beside the service
      await upJson(home, `up-${round}`, '--replace');
      expect({ round, ...(await unit.exit) }).toEqual({ round, code: 0, signal: null });
      expect(isAlive(daemon.pid)).toBe(false);
      expect({ round, who: await whoServes(home) }).toEqual({ round, who: `up-${round}` });
    }
  });

  it('a request that comes while the daemon is replaced is served by the next daemon', async () => {
    const { home, pid, bridge, isBeingReplaced } = await beginSlow();
    const replaced = upJson(home, 'next', '--replace');
    await isBeingReplaced();
    bridge.say(ECHO);
    expect((await bridge.reply(2)).result).toEqual({ content: [{ type: 'text', text: 'kept' }] });
    const next = await replaced;
    expect(next).toMatchObject({ status: 0, already_running: false });
    expect(await servingPid(home)).toBe(next.pid);
    expect(next.pid).not.toBe(pid);
  });

  it('the new daemon starts with the config as it is when the old one has ended', async () => {
    const { home, slow, isBeingReplaced } = await beginSlow();
    const replaced = upJson(home, 'next', '--replace');
    await isBeingReplaced();
    home.configure(
      config([server('good', 'good.mjs'), server('more', 'good.mjs'), server('most', 'good.mjs')]),
    );
    slow.kill();
    expect(await replaced).toMatchObject({ status: 0, servers: 3 });
    const { stdout } = await run(home, 'x', 'status', '--json');
    expect(namesIn(stdout)).toEqual(['good', 'more', 'most']);
  });

  it('a config that breaks while the old daemon ends is reported by the new one, which has the last valid config', async () => {
    const { home, slow, isBeingReplaced } = await beginSlow();
    const replaced = upJson(home, 'next', '--replace');
    await isBeingReplaced();
    home.configure('version: "1.0"\nmcp_servers: [{name: a}]\n');
    slow.kill();
    expect(await replaced).toMatchObject({ status: 0, servers: 2 });
    const { stdout } = await until(async () => {
      const status = await run(home, 'x', 'status', '--json');
      return JSON.parse(status.stdout).daemon.config_error !== null && status;
    });
    expect(namesIn(stdout)).toEqual(['good', 'slow']);
  });

  it('a bridge that waits for a killed successor starts a daemon', async () => {
    const { home, pid, bridge, isBeingReplaced } = await beginSlow();
    const successor = startForeground(home, { flags: ['--replace'], env: { WHO: 'killed' } });
    await isBeingReplaced();
    bridge.say(ECHO);
    successor.child.kill('SIGKILL');
    expect((await bridge.reply(2)).result).toEqual({ content: [{ type: 'text', text: 'kept' }] });
    const next = await serving(home);
    expect([pid, successor.pid]).not.toContain(next.pid);
    expect(await whoServes(home)).toBe('bridge');
  });

  it('two at once take over one after the other, and one daemon is left', async () => {
    const { home, first, bridges } = await beginBusy(2);
    const both = await Promise.all([runUp(home, 'a', '--replace'), runUp(home, 'b', '--replace')]);
    expect(both).toMatchObject([
      { status: 0, already_running: false },
      { status: 0, already_running: false },
    ]);
    const pids = both.map(({ pid }) => pid);
    const last = await servingPid(home);
    expect(pids).toContain(last);
    home.adopt(last);
    expect(await whoServes(home)).toBe(pids.indexOf(last) === 0 ? 'a' : 'b');
    await until(() => [first.pid, ...pids].filter(isAlive).length === 1);
    await allServed(bridges);
  });

  it('up --replace fails with the reason for a broken config, and the old daemon still serves', async () => {
    const { home, first, bridges } = await beginBusy(1);
    const broken = HERD.replace('good', '');
    const { status, stderr } = await toolherd(['up', '--replace', '--config', 'broken.yaml'], {
      cwd: home.folder,
      env: home.environment,
    });
    expect([status, stderr]).toEqual([78, expect.stringContaining('broken.yaml')]);
    home.configure(broken);
    const second = await run(home, 'second', 'up', '--replace');
    expect([second.status, second.stderr]).toEqual([78, expect.stringContaining('config.yaml')]);
    expect(await servingPid(home)).toBe(first.pid);
    await allServed(bridges);
  });

  it('a killed successor does not block other daemons', async () => {
    const { home, first } = await beginBusy(0);
    await killDaemon(home, home.adopt(first.pid));
    expect(await upJson(home, 'second', '--replace')).toMatchObject({ status: 0, already_running: false });
    // its lock is left as a killed one leaves it
    writeFileSync(`${home.socket}.next`, `${process.pid}\n`);
    await run(home, 'x', 'down');
    expect(await upJson(home, 'third')).toMatchObject({ status: 0, already_running: false });
    expect(await whoServes(home)).toBe('third');
  });
});

describe('down beside up --replace', () => {
  const saysWhoServes = (down: Outcome, next: { pid: number }) => {
    expect(down.status).toBe(1);
    expect(JSON.parse(down.stdout)).toMatchObject({ next_pid: next.pid });
  };

  it('waits for the successor of a daemon that is being replaced, and names its pid: exit 1', async () => {
    const { home, slow, isOrdered, isBeingReplaced } = await beginSlow();
    const replaced = upJson(home, 'next', '--replace');
    await isBeingReplaced();
    const down = run(home, 'x', 'down', '--json');
    await isOrdered('shutdown');
    slow.kill();
    saysWhoServes(await down, await replaced);
  });

  it('does so too when the successor comes after the order to shut down', async () => {
    const { home, slow, isOrdered, isBeingReplaced } = await beginSlow();
    const down = run(home, 'x', 'down', '--json');
    await isOrdered('shutdown');
    const replaced = upJson(home, 'next', '--replace');
    await isBeingReplaced();
    slow.kill();
    const next = await replaced;
    expect(next).toMatchObject({ status: 0, already_running: false });
    saysWhoServes(await down, next);
  });

  it('does not wait for a killed successor: no daemon serves', async () => {
    const { home, slow, isOrdered, isBeingReplaced } = await beginSlow();
    const successor = startForeground(home, { flags: ['--replace'] });
    await isBeingReplaced();
    const down = run(home, 'x', 'down', '--json');
    await isOrdered('shutdown');
    successor.child.kill('SIGKILL');
    await successor.exit;
    slow.kill();
    expect(JSON.parse((await down).stdout)).toMatchObject({ next_pid: null });
    expect([(await down).status, await servingPid(home)]).toEqual([0, 0]);
  });
});

describe('down beside busy bridges', () => {
  it('the daemon stays down; calls of attached agents are refused with a fix', async () => {
    const { home, first, bridges } = await beginBusy();
    const { status, stderr } = await run(home, 'x', 'down');
    expect(status).toBe(0);
    expect(stderr).toBe(
      "3 attached agents get errors until a daemon runs again: 'toolherd up', a new agent or 'toolherd call' starts one\n",
    );
    // time enough for a bridge to start one: it took a second and a half
    for (let look = 0; look < 25; look += 1) {
      expect(await servingPid(home)).toBe(0);
      await sleep(100);
    }
    expect(isAlive(first.pid)).toBe(false);
    const [bridge] = bridges;
    const refusals = bridge!.lines.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(refusals.at(-1)).toMatchObject({
      message: expect.stringMatching(/tools\/call was not sent.*was stopped.*toolherd up/),
      data: { type: 'DaemonNotRunningError', retryable: true, sent: false },
    });
  });

  it('attached agents are served again as soon as a daemon runs', async () => {
    const { home, bridges } = await beginBusy();
    await run(home, 'x', 'down');
    await upJson(home, 'again');
    await allServed(bridges);
    expect(await whoServes(home)).toBe('again');
  });

  it('attached agents do not restart a daemon that ended by a signal', async () => {
    const { home, first, bridges } = await beginBusy(2);
    process.kill(first.pid, 'SIGTERM');
    await until(() => !isAlive(first.pid));
    await sleep(1500);
    expect(await servingPid(home)).toBe(0);
    await upJson(home, 'again');
    await allServed(bridges);
  });

  it('a new agent and a command that needs the daemon start one', async () => {
    const { home } = await beginBusy(1);
    await run(home, 'x', 'down');
    expect((await run(home, 'caller', 'call', 'good.echo', 'value=here')).stdout.trim()).toBe('here');
    await serving(home);
    expect(await whoServes(home)).toBe('caller');
    await run(home, 'x', 'down');
    const agent = startBridge(home, { env: { WHO: 'agent' } });
    agent.say({ id: 1, method: 'ping' });
    await agent.reply(1);
    await serving(home);
    expect(await whoServes(home)).toBe('agent');
  });

  it('a bridge with a call restarts a killed daemon', async () => {
    const { home, first, bridges } = await beginBusy(1);
    const daemon = home.adopt(first.pid);
    await killDaemon(home, daemon);
    await serving(home, (pid) => pid !== 0 && pid !== first.pid);
    await allServed(bridges);
    await until(() => processesOf(daemon.id).length === 0);
  });
});
