import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../src/fleet/fleet.js';
import { config, type Entry, server } from '../faults/config.js';
import { startBridge } from '../support/bridge.js';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, herdIn, killDaemon, killNow, makeHome, startHerd, until } from '../support/herd.js';
import { atEnd, share } from '../support/share.js';
import { herds } from './support.js';

interface Pair {
  desk: Herd;
  here: Herd;
}

/** Two daemons: `here` has the servers of `desk`. */
async function pair(servers: readonly Entry[], own: readonly Entry[] = [], more = {}): Promise<Pair> {
  const desk = await startHerd(config(servers));
  const here = await startHerd(config(own) + herds({ name: 'desk', socket: desk.home.socket, ...more }));
  await until(async () => (await here.status('desk')).state === 'connected');
  return { desk, here };
}

const ok = async ({ fleet }: Herd, name: string) =>
  (await fleet.call({ server: name, tool: 'echo', arguments: { value: 'hi' } })).success;

describe('a herd by its socket', () => {
  const both = share(() =>
    pair(
      [server('good', 'good.mjs'), server('modern', 'modern.mjs'), server('questions', 'questions.mjs')],
      [server('own', 'good.mjs')],
    ),
  );

  it('shows the servers of the other herd as those of its daemon, with the name of the herd', async () => {
    const { desk, here } = both();
    await desk.fleet.start({ servers: ['good'] }, true);
    const there = await desk.status('good');
    await until(async () => (await here.status('desk/good')).pids[0] === there.pids[0]);
    expect(await here.status('desk/good')).toMatchObject({
      herd: 'desk',
      state: 'connected',
      detail: 'running',
      transport: 'stdio',
      incarnation: there.incarnation,
    });
    expect(await here.status('desk')).toMatchObject({ transport: 'socket', herd_servers: 3, tools: 0 });
    const shown = await toolherd(['status'], { cwd: here.home.folder, env: here.home.environment });
    expect(shown.stdout).toContain('desk/good');
  });

  it('lists their tools with the name of the herd in front, and calls them by it', async () => {
    const { here } = both();
    const { tools } = await here.fleet.tools('desk/good');
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ exposed_name: 'desk__good__echo' });
    const called = await toolherd(['call', 'desk__good__echo', 'value=hi'], {
      cwd: here.home.folder,
      env: here.home.environment,
    });
    expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining('hi') });
    expect(await here.say('desk/modern', 'echo', { value: 'new' })).toBe('new');
    const found = await here.fleet.search({ query: 'echo', server: 'desk/good' });
    expect(JSON.stringify(found)).toContain('desk__good__echo');
  });

  it('passes progress and cancellation', async () => {
    const { desk, here } = both();
    for (const name of ['desk/good', 'desk/modern']) {
      const steps: unknown[] = [];
      const call = { server: name, tool: 'progress', arguments: { times: 3 } };
      const { success } = await here.fleet.call(call, {
        onProgress: (step) => void steps.push(step.progress),
      });
      expect({ success, steps }).toEqual({ success: true, steps: [1, 2, 3] });
    }
    const cancelling = new AbortController();
    const waiting = here.fleet.call({ server: 'desk/good', tool: 'wait' }, { signal: cancelling.signal });
    await until(async () => (await desk.status('good')).in_flight === 1);
    cancelling.abort(new Error('enough'));
    expect((await waiting).error).toMatchObject({ type: 'CancelledError', sent: true });
    await until(async () => (await desk.status('good')).in_flight === 0);
  });

  it('passes the questions of a server to the agent here', async () => {
    const { here } = both();
    const bridge = startBridge(here.home);
    const capabilities = { elicitation: {} };
    const clientInfo = { name: 'test', version: '1' };
    bridge.say({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo },
    });
    await bridge.reply(1);
    bridge.say({ method: 'notifications/initialized' });
    const question = { method: 'elicitation/create', params: { message: 'sure?', requestedSchema: {} } };
    bridge.say({
      id: 2,
      method: 'tools/call',
      params: { name: 'desk__questions__ask', arguments: question },
    });
    const asked = await until(() => bridge.lines.find(({ method }) => method === 'elicitation/create'));
    bridge.say({ id: asked.id, result: { action: 'accept', content: { yes: true } } });
    expect(JSON.stringify(await bridge.reply(2))).toContain('accept');
  });

  it('sends orders to the daemon of the server, and passes its events on', async () => {
    const { desk, here } = both();
    const events: FleetEvent[] = [];
    here.fleet.subscribe(['state'], (event) => void events.push(event));
    await here.fleet.stop({ servers: ['desk/good'] }, true);
    expect(await desk.status('good')).toMatchObject({ detail: 'stopped' });
    expect(await here.status('desk/good')).toMatchObject({ detail: 'stopped' });
    const [started] = await here.fleet.start({ servers: ['desk/good'] }, true);
    expect(started).toMatchObject({ name: 'desk/good', state: 'connected' });
    expect(await desk.status('good')).toMatchObject({ state: 'connected' });
    await until(() => events.some((event) => event.server === 'desk/good' && event.topic === 'state'));
  });

  it('keeps an order for all servers on this machine', async () => {
    const { desk, here } = both();
    await desk.fleet.start({ servers: ['good'] }, true);
    const before = await desk.status('good');
    await here.fleet.restart({ all: true }, true);
    expect((await desk.status('good')).pids).toEqual(before.pids);
    await until(async () => (await here.status('desk')).state === 'connected');
  });

  it('shows the journal and the log that the other daemon keeps', async () => {
    const { desk, here } = both();
    await desk.fleet.restart({ servers: ['good'] }, true);
    const there = await desk.fleet.inspect('good');
    const shown = await here.fleet.inspect('desk/good');
    expect(shown).toMatchObject({ server: 'desk/good', journal: there.journal });
    const { cwd, env } = { cwd: here.home.folder, env: here.home.environment };
    const why = await toolherd(['why', 'desk/good'], { cwd, env });
    expect(why).toMatchObject({ status: 0, stdout: expect.stringContaining('desk/good is running') });
    const entries = await here.fleet.logs({ server: 'desk/good' });
    expect(entries.every((entry) => entry.server === 'desk/good')).toBe(true);
  });

  it('tells the other herd the name of this program and nothing of this herd', async () => {
    const { desk, here } = both();
    const events: FleetEvent[] = [];
    desk.fleet.subscribe(['call'], (event) => void events.push(event));
    await here.say('desk/questions', 'hello');
    const event = await until(() => events.find(({ topic }) => topic === 'call'));
    expect(event).toMatchObject({ client: { name: 'toolherd' }, agent: null });
    const { servers } = await desk.fleet.status();
    expect(servers.map(({ name }) => name)).not.toContain('own');
    expect(JSON.stringify(await here.say('desk/questions', 'hello'))).not.toContain(here.home.folder);
  });
});

describe('the connection of a herd', () => {
  it('fails calls in flight as sent when the other daemon is killed, says why, and comes back', async () => {
    const { desk, here } = await pair([server('good', 'good.mjs')]);
    const { tools } = await here.fleet.tools('desk/good');
    const waiting = here.fleet.call({ server: 'desk/good', tool: 'wait' });
    await until(async () => (await desk.status('good')).in_flight === 1);
    await killDaemon(desk.home, desk.daemon);
    const { error } = await waiting;
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true, retryable: false });
    expect(error?.message).toContain('desk');
    await until(async () => (await here.status('desk')).state !== 'connected');
    expect(await here.status('desk/good')).toMatchObject({
      state: 'disconnected',
      last_error: { fix: expect.stringContaining('toolherd why desk') },
    });
    // lists stay
    expect((await here.fleet.tools('desk/good')).tools).toHaveLength(tools.length);
    const daemon = await desk.home.start();
    const again = await herdIn(desk.home, daemon);
    await until(() => ok(here, 'desk/good'));
    expect((await again.status('good')).state).toBe('connected');
  });

  it('holds calls that come while the other daemon is replaced', async () => {
    const { desk, here } = await pair([server('good', 'good.mjs')]);
    expect(await ok(here, 'desk/good')).toBe(true);
    const { cwd, env } = { cwd: desk.home.folder, env: desk.home.environment };
    const replaced = toolherd(['up', '--replace', '--json'], { cwd, env });
    await until(async () => (await here.status('desk')).state !== 'connected');
    const held = here.fleet.call({ server: 'desk/good', tool: 'echo', arguments: { value: 'held' } });
    const { stdout } = await replaced;
    desk.home.adopt(JSON.parse(stdout).pid);
    expect((await held).content).toMatchObject([{ text: 'held' }]);
  });

  it('follows the servers of the other herd as they come and go, as far as the config wants them', async () => {
    const { desk, here } = await pair([server('good', 'good.mjs'), server('secret', 'good.mjs')], [], {
      servers: { deny: ['secret'] },
    });
    const names = async () => (await here.fleet.status()).servers.map(({ name }) => name);
    expect(await names()).toEqual(['desk', 'desk/good']);
    await desk.fleet.register(server('late', 'good.mjs', { start: 'eager' }));
    await until(async () => (await names()).includes('desk/late'));
    expect(await ok(here, 'desk/late')).toBe(true);
    await desk.fleet.unregister('late');
    await until(async () => !(await names()).includes('desk/late'));
    desk.home.configure(config([server('other', 'good.mjs')]));
    await until(async () => (await names()).includes('desk/other'));
  });

  it('shows a crash of the other server, whose daemon restarts it', async () => {
    const { desk, here } = await pair([server('good', 'good.mjs')]);
    expect(await ok(here, 'desk/good')).toBe(true);
    const waiting = here.fleet.call({ server: 'desk/good', tool: 'wait' });
    await until(async () => (await desk.status('good')).in_flight === 1);
    const { pids } = await desk.status('good');
    killNow(pids[0]!);
    expect((await waiting).error).toMatchObject({
      ...{ type: 'ServerCrashedError', sent: true },
      message: expect.stringMatching(/^desk\/good: /),
    });
    await until(async () => (await here.status('desk/good')).restarts === 1);
    await until(() => ok(here, 'desk/good'));
  });

  it('says that a call which the other daemon refused was not sent', async () => {
    const { desk, here } = await pair([server('good', 'good.mjs')]);
    expect(await ok(here, 'desk/good')).toBe(true);
    await desk.fleet.stop({ servers: ['good'] }, true);
    const { error } = await here.fleet.call({ server: 'desk/good', tool: 'echo', arguments: { value: '' } });
    expect(error).toMatchObject({
      type: 'ServerUnavailableError',
      sent: false,
      message: 'desk/good: was stopped',
    });
  });

  it('ends with its entry in the config', async () => {
    const { here } = await pair([server('good', 'good.mjs')], [server('own', 'good.mjs')]);
    here.home.configure(config([server('own', 'good.mjs')]));
    await until(async () => (await here.fleet.status()).servers.length === 1);
  });

  it('makes no loop of two herds that have each other', async () => {
    const [one, two] = [makeHome(''), makeHome('')];
    one.configure(config([server('first', 'good.mjs')]) + herds({ name: 'two', socket: two.socket }));
    two.configure(config([server('second', 'good.mjs')]) + herds({ name: 'one', socket: one.socket }));
    const a = await herdIn(one, await one.start());
    const b = await herdIn(two, await two.start());
    await until(() => ok(a, 'two/second'));
    await until(() => ok(b, 'one/first'));
    const names = async ({ fleet }: Herd) => (await fleet.status()).servers.map(({ name }) => name);
    expect(await names(a)).toEqual(['first', 'two', 'two/second']);
    expect(await names(b)).toEqual(['second', 'one', 'one/first']);
  });

  it('says what to do where the other toolherd speaks another version of the protocol', async () => {
    const socket = join(makeFolder(), 'old.sock');
    const old = createServer((client) => {
      client.on('error', () => undefined);
      client.on('data', (chunk) => {
        const { id } = JSON.parse(chunk.toString().split('\n')[0]!);
        const result = { daemon: { version: '0.0.1', pid: 1, closing: null }, api_version: 0, agent: null };
        client.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
      });
    });
    await new Promise<void>((resolve) => old.listen(socket, resolve));
    atEnd(() => old.close());
    const here = await startHerd(config([]) + herds({ name: 'desk', socket }));
    const failed = await until(async () => (await here.status('desk')).last_error);
    expect(failed.message).toContain('its toolherd 0.0.1 speaks version 0');
    expect(failed.fix).toContain('toolherd up --replace');
  });

  it('says where no daemon answers, and refuses a call to the herd itself', async () => {
    const socket = join(makeFolder(), 'none.sock');
    const here = await startHerd(config([]) + herds({ name: 'desk', socket }));
    const failed = await until(async () => (await here.status('desk')).last_error);
    expect(failed.message).toContain(`no daemon answers on ${socket}`);
    expect(failed.fix).toContain('toolherd up');
    expect(await here.say('desk', 'echo')).toContain('desk');
  });
});
