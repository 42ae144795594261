import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, type Entry, fixturePath, server } from '../../faults/config.js';
import { until } from '../../support/until.js';
import { type LineClient, startMcp, textOf } from './support.js';

const UPDATED = 'notifications/resources/updated';
const updates = (client: LineClient) => client.heard(UPDATED).map(({ params }) => params);

async function overHttp(): Promise<Entry> {
  const child = spawn(process.execPath, [fixturePath('modern-watched.mjs'), 'http']);
  onTestFinished(() => void child.kill());
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const url = `http://127.0.0.1:${port}/mcp`;
  return { name: 'modern', description: 'modern', server: 'modern', transport: 'http', url };
}

/** A herd, and the subscriptions that its fixture got. */
async function start(text: string, name = 'watched') {
  const herd = await startMcp(text);
  return {
    ...herd,
    touch: (uri: string, more = {}) => herd.say(name, 'touch', { uri, ...more }),
    asked: async () => JSON.parse(await herd.say(name, 'asked')) as string[],
  };
}

describe('a subscription to a resource', () => {
  it('sends updates unchanged to the clients that subscribed, and to no others', async () => {
    const { client, touch } = await start(config([server('watched', 'watched.mjs')]));
    const [one, two, other, bare] = [client(), client(), client(), client()];
    for (const each of [one, two, other]) await each.hello();
    const { result } = await one.ask('again', 'initialize', { protocolVersion: '2025-11-25' });
    expect(result?.capabilities).toMatchObject({ resources: { subscribe: true, listChanged: true } });
    for (const each of [one, two]) {
      expect((await each.ask(1, 'resources/subscribe', { uri: 'note://one' })).result).toEqual({});
    }
    await other.ask(1, 'resources/subscribe', { uri: 'note://two' });

    expect(await touch('note://one')).toBe('told');
    const told = { uri: 'note://one', title: 'new' };
    await until(() => updates(one).length === 1 && updates(two).length === 1);
    expect([updates(one), updates(two)]).toEqual([[told], [told]]);
    await touch('note://one', { part: '/page' });
    await until(() => updates(one).length === 2);
    expect(updates(one)[1]).toEqual({ uri: 'note://one/page', title: 'new' });
    for (const each of [other, bare]) {
      await each.settle();
      expect(updates(each)).toEqual([]);
    }
  });

  it('is one at the server for any number of clients: the last unsubscribe ends it, the next begins a new one', async () => {
    const { client, asked, touch } = await start(config([server('watched', 'watched.mjs')]));
    const [one, two] = [client(), client()];
    const uri = 'note://one';
    await Promise.all([
      one.ask(1, 'resources/subscribe', { uri }),
      one.ask(2, 'resources/subscribe', { uri }),
      two.ask(1, 'resources/subscribe', { uri }),
    ]);
    expect(await asked()).toEqual(['+note://one']);
    expect((await one.ask(3, 'resources/unsubscribe', { uri })).result).toEqual({});
    expect((await one.ask(4, 'resources/unsubscribe', { uri })).result).toEqual({});
    await touch(uri);
    await until(() => updates(two).length === 1);
    await one.settle();
    expect(updates(one)).toEqual([]);
    expect(await asked()).toEqual(['+note://one']);

    two.close();
    await until(async () => (await asked()).length === 2);
    expect(await touch(uri)).toBe('not watched');
    await Promise.all([
      one.ask(5, 'resources/subscribe', { uri }),
      one.ask(6, 'resources/unsubscribe', { uri }),
      one.ask(7, 'resources/subscribe', { uri }),
    ]);
    await touch(uri);
    await until(() => updates(one).length === 1);
    expect((await asked()).slice(0, 2)).toEqual(['+note://one', '-note://one']);
    expect((await asked()).at(-1)).toBe('+note://one');
  });

  it('survives its server: the next process gets the subscription, and the client an update', async () => {
    const { client, say, asked, touch, fleet } = await start(config([server('watched', 'watched.mjs')]));
    const mine = client();
    await mine.ask(1, 'resources/subscribe', { uri: 'note://one' });
    const before = await say('watched', 'pid');
    await say('watched', 'kill');
    await until(() => updates(mine).length === 1);
    expect(updates(mine)).toEqual([{ uri: 'note://one' }]);
    expect(await say('watched', 'pid')).not.toBe(before);
    expect(await asked()).toEqual(['+note://one']);
    await touch('note://one');
    await until(() => updates(mine).length === 2);

    await fleet.restart({ all: true }, true);
    await until(() => updates(mine).length === 3);
    expect(await asked()).toEqual(['+note://one']);
  });

  it('starts a lazy server and keeps it from being idle', async () => {
    const { client, status, touch } = await start(
      config([server('watched', 'watched.mjs', { idle_timeout: 0.5 })]),
    );
    const mine = client();
    expect((await status('watched')).pids).toEqual([]);
    await mine.ask(1, 'resources/subscribe', { uri: 'note://one' });
    const [pid] = (await status('watched')).pids;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await status('watched')).pids).toEqual([pid]);
    await touch('note://one');
    await until(() => updates(mine).length === 1);
    await mine.ask(2, 'resources/unsubscribe', { uri: 'note://one' });
    await until(async () => (await status('watched')).pids.length === 0);
  });

  it('belongs to the first server of the config that has the resource, or to the server of the connection', async () => {
    const servers = [server('first', 'watched.mjs'), server('second', 'watched.mjs')];
    const { client, say } = await startMcp(config(servers));
    const [herd, one] = [client(), client()];
    await herd.ask(1, 'resources/subscribe', { uri: 'shared://same' });
    await one.ask(1, 'fleet/hello', { server: 'second' });
    await one.ask(2, 'resources/subscribe', { uri: 'shared://same' });
    for (const name of ['first', 'second']) {
      expect(await say(name, 'touch', { uri: 'shared://same' })).toBe('told');
    }
    await until(() => updates(herd).length === 1 && updates(one).length === 1);
    await Promise.all([herd.settle(), one.settle()]);
    expect([updates(herd).length, updates(one).length]).toEqual([1, 1]);
  });

  it("belongs to the agent's own process if the server is per-agent", async () => {
    const { client } = await startMcp(config([server('watched', 'watched.mjs', { sharing: 'per-agent' })]));
    const [one, two] = [client(), client()];
    for (const each of [one, two]) await each.ask(1, 'resources/subscribe', { uri: 'note://one' });
    const touch = { name: 'watched__touch', arguments: { uri: 'note://one' } };
    expect(textOf(await one.ask(2, 'tools/call', touch))).toBe('told');
    await until(() => updates(one).length === 1);
    await two.settle();
    expect(updates(two)).toEqual([]);
  });

  it('is refused with the reason if the server cannot report changes', async () => {
    const { client, fleet } = await startMcp(
      config([
        server('watched', 'watched.mjs'),
        server('mute', 'watched.mjs', { args: ['mute'] }),
        server('brief', 'watched.mjs', { lifecycle: 'transient' }),
      ]),
    );
    const mine = client();
    const ask = async (id: number, uri: unknown, shown?: string) => {
      await mine.ask(`hello-${id}`, 'fleet/hello', { server: shown });
      return (await mine.ask(id, 'resources/subscribe', { uri })).error;
    };
    expect(await ask(1, undefined)).toMatchObject({ code: -32602 });
    expect(await ask(2, 'gone://x')).toMatchObject({
      code: -32002,
      message: expect.stringContaining("no server has a resource 'gone://x'"),
    });
    // the server's own error passes unchanged
    expect(await ask(3, 'other://refused')).toEqual({
      code: -32002,
      message: 'no such resource',
      data: { uri: 'other://refused' },
    });
    expect(await ask(4, 'note://one', 'mute')).toMatchObject({
      code: -32601,
      message: expect.stringContaining('does not report changes of resources'),
    });
    expect((await ask(5, 'note://one', 'brief'))?.message).toContain('transient');
    await fleet.stop({ servers: ['watched'] }, true);
    expect((await ask(6, 'note://one', 'watched'))?.message).toContain('toolherd start watched');
  });

  it('moves to the new server when the config changes', async () => {
    const { client, home, fleet, touch } = await start(config([server('watched', 'watched.mjs')]));
    const mine = client();
    await mine.ask(1, 'resources/subscribe', { uri: 'note://one' });
    home.configure(config([server('watched', 'watched.mjs', { max_in_flight: 7 })]));
    // the daemon looks at its files as well, and once moved is enough
    await Promise.all([fleet.reload(), fleet.reload()]);
    await until(() => updates(mine).length > 0);
    expect(await touch('note://one')).toBe('told');
    await until(() => updates(mine).length > 1);

    home.configure(config([]));
    await fleet.reload();
    home.configure(config([server('watched', 'watched.mjs')]));
    await fleet.reload();
    await until(() => updates(mine).length > 2);
    expect(await touch('note://one')).toBe('told');
  });

  it.each([
    ['stdio', async () => server('modern', 'modern-watched.mjs')],
    ['http', overHttp],
  ])('listens at a server of 2026-07-28 (%s)', async (_, entry) => {
    const { client, touch, status } = await start(config([await entry()]), 'modern');
    const [mine, other] = [client(), client()];
    const uri = 'note://modern';
    expect((await mine.ask(1, 'resources/subscribe', { uri })).result).toEqual({});
    expect((await status('modern')).protocol_version).toBe('2026-07-28');
    await touch(uri);
    await until(() => updates(mine).length === 1);
    expect(updates(mine)).toEqual([{ uri }]);
    await mine.ask(2, 'resources/unsubscribe', { uri });
    await touch(uri);
    await Promise.all([mine.settle(), other.settle()]);
    expect([updates(mine).length, updates(other).length]).toEqual([1, 0]);
  });
});
