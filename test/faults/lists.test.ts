import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CatalogEvent } from '../../src/fleet/fleet.js';
import { LineClient, namesOf } from '../ipc/mcp/support.js';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, herdIn, killDaemon, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { seen } from '../support/until.js';
import { config, command as entry, fixturePath, server } from './config.js';

const REASON = 'tools/list was answered with error -32603: warming up';
/** It never answers, and stops at once. */
const hang = (fields = {}) => server('hang', 'silent.mjs', { stop: { close: 0.1, term: 0.1 }, ...fields });
const good = server('good', 'good.mjs');

const listsOf = async ({ fleet }: Herd, name: string) => (await fleet.status([name])).servers[0]?.lists;

/** The command, in the home of the herd. */
const command =
  ({ home }: Herd) =>
  (...args: string[]) =>
    toolherd(args, { cwd: home.folder, env: home.environment });

async function listen({ fleet }: Herd): Promise<CatalogEvent[]> {
  const events: CatalogEvent[] = [];
  fleet.subscribe(['catalog'], (event) => event.topic === 'catalog' && events.push(event));
  await fleet.status([]);
  return events;
}

describe('a server that hangs at its first start', () => {
  test('delays no list of all servers by more than daemon.list_wait', async () => {
    const { fleet, home } = await startHerd(config([good, hang()], { list_wait: 0.3 }));
    await fleet.tools('good');
    const client = new LineClient(home.socket);
    await client.hello();
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      const begun = performance.now();
      const { result, error } = await client.ask(method, method);
      expect([method, error]).toEqual([method, undefined]);
      expect(performance.now() - begun).toBeLessThan(300 + NOISE_MS);
      if (method === 'tools/list') expect(namesOf(result?.tools)).toContain('good__echo');
    }
  });

  test('is named in the answer with the reason; in 2026-07-28 that list has ttlMs 0', async () => {
    const { fleet, home } = await startHerd(config([good, hang()], { list_wait: 0.3 }));
    await fleet.tools('good');
    const { tools, missing } = await fleet.tools();
    expect(new Set(tools.map((tool) => tool.server))).toEqual(new Set(['good']));
    const reason = expect.stringMatching(/^has been starting for \d+ s$/);
    expect(missing).toEqual([{ server: 'hang', list: 'tools', reason }]);
    expect((await fleet.prompts()).missing).toEqual([{ server: 'hang', list: 'prompts', reason }]);
    expect((await fleet.resources()).missing).toEqual([
      { server: 'hang', list: 'resources', reason },
      { server: 'hang', list: 'templates', reason },
    ]);
    const client = new LineClient(home.socket);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { result } = await client.ask(1, 'tools/list', { _meta });
    expect([namesOf(result?.tools).includes('good__echo'), result?.ttlMs]).toEqual([true, 0]);
  });

  test('is waited for until start_timeout if the request names it', async () => {
    const herd = await startHerd(config([good, hang({ start_timeout: 1 })], { list_wait: 0 }));
    const begun = performance.now();
    const { status, stdout, stderr } = await command(herd)('tools', 'hang');
    expect(performance.now() - begun).toBeGreaterThan(1000);
    expect([status, stdout]).toEqual([1, 'no tools\n']);
    expect(stderr).toMatch(
      /^(missing: hang: has been starting for \d+ s|warning: hang: no (answer|initialize reply) .*)\n$/,
    );
  });

  test('delays no call and no resource of another server, also of an unknown one', async () => {
    const herd = await startHerd(config([hang(), server('offers', 'offers.mjs')], { list_wait: 0.1 }));
    const client = new LineClient(herd.home.socket);
    await client.hello();
    let reads = 0;
    const read = async () => {
      reads += 1;
      const { result, error } = await client.ask(`read-${reads}`, 'resources/read', { uri: 'note://hello' });
      // until its server was read
      if (error !== undefined) expect(error.data).toMatchObject({ retryable: true });
      return result;
    };
    expect((await until(read)).contents).toMatchObject([{ uri: 'note://hello' }]);
    await herd.fleet.restart({ servers: ['offers'] });
    const call = { name: 'offers__echo', arguments: { value: 'hi' } };
    expect((await client.ask(2, 'tools/call', call)).result?.content).toMatchObject([{ text: 'hi' }]);
    const wrong = await client.ask(3, 'tools/call', { name: 'no-such-tool' });
    expect(wrong.error).toMatchObject({ code: -32602, data: { retryable: true } });
    expect(wrong.error?.data).toMatchObject({
      why: expect.stringMatching(/missing: hang \(has been starting/),
    });
  });

  test('is named by toolherd tools, status, why and doctor', async () => {
    const herd = await startHerd(config([good, hang()], { list_wait: 0 }));
    const run = command(herd);
    await herd.fleet.tools('good');
    await run('tools');
    await until(async () => {
      const since = (await herd.status('hang')).since;
      return Date.now() - Date.parse(since) > 2500;
    });
    const listed = await run('tools');
    expect([listed.status, listed.stdout.includes('good.echo')]).toEqual([0, true]);
    expect(listed.stderr).toMatch(/^missing: hang: has been starting for \d+ s\n$/);
    const json = JSON.parse((await run('tools', '--json')).stdout);
    expect(json.missing).toMatchObject([{ server: 'hang', list: 'tools' }]);
    const note = /hang: has been starting for \d+ s; agents see what it offers when it has started/;
    expect((await run('status')).stdout).toMatch(note);
    expect((await run('doctor')).stdout).toMatch(note);
    expect((await run('why', 'hang')).stdout).toMatch(/What is missing: has been starting for \d+ s/);
  });

  test('is waited for by the new list_wait at once after a reload', async () => {
    const herd = await startHerd(config([good, hang()], { list_wait: 600 }));
    const waiting = herd.fleet.tools();
    herd.home.configure(config([good, hang()], { list_wait: 0 }));
    await herd.fleet.reload();
    await herd.fleet.tools('good');
    expect((await herd.fleet.tools()).missing).toMatchObject([{ server: 'hang' }]);
    await herd.fleet.stop({ servers: ['hang'] });
    expect((await waiting).missing).toEqual([{ server: 'hang', list: 'tools', reason: 'it is stopped' }]);
  });
});

describe('a resource that no server lists', () => {
  /** Neither a listed URI nor a template matches it: only the server knows whether it has it. */
  const uri = 'other://unlisted';
  const offers = (name: string) => server(name, 'offers.mjs');
  const hung = hang({ start_timeout: 20 });

  test('is read from the one server that offers resources, after daemon.list_wait, although another hangs', async () => {
    const herd = await startHerd(config([hung, offers('notes')], { list_wait: 0.3 }));
    await herd.fleet.resources('notes');
    const client = new LineClient(herd.home.socket);
    await client.hello();
    for (const id of [1, 2]) {
      const begun = performance.now();
      // the server's own words
      const { error } = await client.ask(id, 'resources/read', { uri });
      expect(error?.message).toBe('Resource not found');
      expect(error).toMatchObject({
        code: -32002,
        data: { why: expect.stringContaining('missing: hang (has been starting') },
      });
      expect(performance.now() - begun).toBeLessThan(300 + NOISE_MS);
    }
  });

  test('is an error that names the missing servers, if several could have it', async () => {
    const herd = await startHerd(config([hung, offers('one'), offers('two')], { list_wait: 0.3 }));
    await Promise.all([herd.fleet.resources('one'), herd.fleet.resources('two')]);
    const client = new LineClient(herd.home.socket);
    await client.hello();
    for (const [method, params] of [
      ['resources/read', { uri }],
      ['resources/subscribe', { uri }],
      ['completion/complete', { ref: { type: 'ref/resource', uri }, argument: { name: 'a', value: '' } }],
    ] as const) {
      const begun = performance.now();
      const { error } = await client.ask(method, method, params);
      expect(performance.now() - begun).toBeLessThan(300 + NOISE_MS);
      const why = expect.stringMatching(/missing: hang \(has been starting for \d+ s\)/);
      expect(error).toMatchObject({ code: -32002, data: { retryable: true, why } });
    }
  });
});

describe('a server that can no longer be read', () => {
  const REASON_AT_END = /^missing: gone: .+; what it last listed is shown$/m;

  /** A server whose file can be removed. */
  function removable() {
    const folder = makeFolder({ 'gone.mjs': `import ${JSON.stringify(fixturePath('good.mjs'))};\n` });
    const file = join(folder, 'gone.mjs');
    const fields = { max_restarts: 1, backoff: { min: 0.01, max: 0.01 } };
    return { file, gone: entry('gone', process.execPath, [file], fields) };
  }

  test('is named after a failed refresh, and its last lists are shown', async () => {
    const { file, gone } = removable();
    const herd = await startHerd(config([gone]));
    const run = command(herd);
    await herd.fleet.tools('gone');
    rmSync(file);
    await herd.fleet.restart({ servers: ['gone'] });
    await until(async () => (await herd.status('gone')).detail === 'quarantined');
    // what it has was read by this daemon, and nothing has cast doubt on it yet
    expect((await run('tools', 'gone')).stderr).toBe('');
    const { status, stdout, stderr } = await run('tools', 'gone', '--refresh');
    expect([status, stdout.includes('gone.echo')]).toEqual([1, true]);
    expect(stderr).toMatch(REASON_AT_END);
    expect(stderr).toContain('missing: gone: it is quarantined: ');
    const { missing } = await herd.fleet.tools();
    expect(missing).toMatchObject([{ server: 'gone', list: 'tools' }]);
    const note = 'gone: its lists may be outdated; the last known ones are shown';
    expect((await run('status')).stdout).toContain(note);
    expect((await run('doctor')).stdout).toContain(note);
    expect((await run('why', 'gone')).stdout).toContain(
      'What is missing: its lists may be outdated; the last known ones are shown',
    );
  });

  test('is not named while its list is cached; it is when it cannot start', async () => {
    const { file, gone } = removable();
    const first = await startHerd(config([gone]));
    await first.fleet.tools('gone');
    await killDaemon(first.home, first.daemon);
    rmSync(file);
    const herd = await herdIn(first.home, await first.home.start());
    const { tools, missing } = await herd.fleet.tools();
    expect([tools[0]?.cached, missing]).toEqual([true, []]);
    const refreshed = await herd.fleet.tools('gone', true);
    expect([refreshed.tools[0]?.cached, refreshed.missing]).toMatchObject([
      true,
      [{ server: 'gone', list: 'tools', reason: expect.stringMatching(/; what it last listed is shown$/) }],
    ]);
  });
});

describe('a list that could not be read', () => {
  test('does not keep its tools from being called by their public names', async () => {
    const herd = await startHerd(config([server('broken', 'fails-lists.mjs', { args: ['all'] })]));
    const client = new LineClient(herd.home.socket);
    await client.hello();
    await client.ask(1, 'tools/list');
    const call = { name: 'broken__echo', arguments: { value: 'hi' } };
    expect((await client.ask(2, 'tools/call', call)).result?.content).toMatchObject([{ text: 'hi' }]);
  });

  test('does not make the next daemon forget the other lists', async () => {
    const flaky = server('flaky', 'fails-lists.mjs', { args: ['all'] });
    const first = await startHerd(config([flaky]));
    await first.fleet.tools('flaky');
    await killDaemon(first.home, first.daemon);
    const herd = await herdIn(first.home, await first.home.start());
    expect(await listsOf(herd, 'flaky')).toEqual({
      tools: { freshness: 'unknown' },
      prompts: { freshness: 'cached' },
      resources: { freshness: 'cached' },
      templates: { freshness: 'cached' },
    });
  });

  test('is read again, and agents get list_changed', async () => {
    const herd = await startHerd(config([server('flaky', 'fails-lists.mjs', { args: ['1'] })]));
    const client = new LineClient(herd.home.socket);
    await client.hello();
    // the next try, which succeeds, comes 1 s after the failure: the state between them is looked for from the start
    const failed = until(async () => {
      const lists = seen(await listsOf(herd, 'flaky'));
      return lists?.tools?.freshness === 'failed' && lists;
    });
    const [listed, lists] = await Promise.all([client.ask(1, 'tools/list'), failed]);
    expect(listed.result?.tools).toEqual([]);
    expect(lists).toMatchObject({ tools: { freshness: 'failed', reason: REASON } });
    await until(() => client.heard('notifications/tools/list_changed').length > 0);
    expect(namesOf((await client.ask(2, 'tools/list')).result?.tools)).toContain('flaky__echo');
    expect(await listsOf(herd, 'flaky')).toEqual({
      tools: { freshness: 'fresh' },
      // it has no such capability, so there is nothing to fail
      prompts: { freshness: 'fresh' },
      resources: { freshness: 'fresh' },
      templates: { freshness: 'fresh' },
    });
    expect(await herd.say('flaky', 'asked')).toBe('2');
  });

  test('a list that can never be read is reported by tools, status, why, doctor and logs', async () => {
    const herd = await startHerd(config([server('broken', 'fails-lists.mjs', { args: ['all'] })]));
    const run = command(herd);
    const listed = await run('tools', 'broken');
    expect([listed.status, listed.stdout]).toEqual([1, 'no tools\n']);
    expect(listed.stderr).toMatch(
      /^missing: broken: tools\/list was answered with error -32603: warming up; next try in \d+ s\n$/,
    );
    const whole = await run('tools');
    expect([whole.status, whole.stderr]).toEqual([0, expect.stringContaining(`missing: broken: ${REASON}`)]);
    // while a try is under way, the time of the next one is not known
    const shown = (text: string, ...args: string[]) =>
      until(async () => {
        const { stdout } = seen(await run(...args));
        return stdout.includes(text) && stdout;
      });
    await shown(`broken: ${REASON}; next try in`, 'status');
    await shown(`broken: ${REASON}; next try in`, 'doctor');
    const why = await shown(`What is missing: ${REASON}; next try in`, 'why', 'broken');
    expect(why).toContain(
      'What you can do: see "toolherd logs broken"; "toolherd tools broken --refresh" asks at once.',
    );
    await until(async () => Number(await herd.say('broken', 'asked')) >= 3);
    // the reason stays the same: it is logged once
    const { stdout } = await run('logs', 'broken');
    expect(stdout.split('\n').filter((line) => line.includes('could not be read'))).toHaveLength(1);
    expect(await herd.say('broken', 'echo', { value: 'calls pass' })).toBe('calls pass');
  });

  test('a list that was known before stays listed as stale', async () => {
    const herd = await startHerd(config([server('once', 'fails-lists.mjs', { args: ['0'] })]));
    const { tools } = await herd.fleet.tools('once');
    await herd.say('once', 'fail', { times: 'all' });
    await until(async () => (await listsOf(herd, 'once'))?.tools?.reason !== undefined);
    expect(await listsOf(herd, 'once')).toMatchObject({ tools: { freshness: 'stale', reason: REASON } });
    // not while a try is under way: then the time of the next one is not known
    const again = await until(async () => {
      const listed = seen(await herd.fleet.tools());
      return listed.missing.some(({ reason }) => reason.includes('next try in')) && listed;
    });
    expect(again.tools).toEqual(tools);
    const reason = expect.stringMatching(/warming up; next try in \d+ s; what it last listed is shown$/);
    expect(again.missing).toEqual([{ server: 'once', list: 'tools', reason }]);
    await herd.say('once', 'fail', { times: 0 });
    await until(async () => (await listsOf(herd, 'once'))?.tools?.freshness === 'fresh');
  });

  test('a list whose pages form a circle counts as failed', async () => {
    const herd = await startHerd(config([server('round', 'pages.mjs', { args: ['circle'] })]));
    const reason = 'the reply to tools/list is unusable: its pages go in a circle';
    expect((await herd.fleet.tools('round')).missing[0]?.reason).toContain(reason);
    expect(await listsOf(herd, 'round')).toMatchObject({ tools: { freshness: 'failed', reason } });
  });

  test('a list of a transient server is read by the next process', async () => {
    const fields = { args: ['all'], lifecycle: 'transient' };
    const herd = await startHerd(config([server('brief', 'fails-lists.mjs', fields)]));
    expect((await herd.fleet.tools('brief')).missing).toMatchObject([{ server: 'brief', list: 'tools' }]);
    await until(async () => (await listsOf(herd, 'brief'))?.tools?.next_try_at === null);
    expect(await listsOf(herd, 'brief')).toMatchObject({ tools: { freshness: 'failed', reason: REASON } });
    expect(await herd.status('brief')).toMatchObject({ pids: [], incarnation: 1 });
    expect((await herd.fleet.tools()).missing).toHaveLength(1);
    expect((await herd.status('brief')).incarnation).toBe(2);
  });
});

describe('a server that is new to a running daemon', () => {
  const added = (events: readonly CatalogEvent[], name: string) =>
    until(() => events.find((event) => event.server === name && event.added.includes('echo')));

  test('a server of a changed config is read; a server that the daemon started with is not', async () => {
    const herd = await startHerd(config([good]));
    const events = await listen(herd);
    const changed = server('other', 'good.mjs', { env: { VERSION: '1' } });
    herd.home.configure(config([good, changed]));
    await herd.fleet.reload();
    await added(events, 'other');
    expect(await herd.status('other')).toMatchObject({ state: 'connected', incarnation: 1 });
    expect(await herd.status('good')).toMatchObject({ state: 'created', incarnation: 0 });
    events.length = 0;
    herd.home.configure(config([good, { ...changed, env: { VERSION: '2' } }]));
    await herd.fleet.reload();
    await added(events, 'other');
  });

  test('a server of fleet/register is read', async () => {
    const herd = await startHerd(config([good]));
    const events = await listen(herd);
    const args = [fixturePath('good.mjs')];
    await herd.fleet.register({ name: 'extra', server: 'g', command: process.execPath, args });
    await added(events, 'extra');
    expect((await herd.fleet.tools()).tools.map((tool) => tool.exposed_name)).toContain('extra__echo');
  });

  test('a per-agent server causes list_changed for attached agents', async () => {
    const herd = await startHerd(config([good]));
    const client = new LineClient(herd.home.socket);
    await client.hello();
    await client.ask(1, 'tools/list');
    await until(() => client.heard('notifications/tools/list_changed').length === 1);
    herd.home.configure(config([good, server('mine', 'good.mjs', { sharing: 'per-agent' })]));
    await herd.fleet.reload();
    await until(() => client.heard('notifications/tools/list_changed').length === 2);
    await until(async () =>
      namesOf((await client.ask(2, 'tools/list')).result?.tools).includes('mine__echo'),
    );
  });

  test('is not started if it is disabled, or if its lists are cached', async () => {
    const herd = await startHerd(config([server('known', 'good.mjs')]));
    await herd.fleet.tools('known');
    herd.home.configure(config([]));
    await herd.fleet.reload();
    const off = server('off', 'good.mjs', { enabled: false });
    herd.home.configure(config([server('known', 'good.mjs'), off]));
    const events = await listen(herd);
    await herd.fleet.reload();
    await added(events, 'known');
    expect(await herd.status('known')).toMatchObject({ state: 'created', pids: [] });
    expect(await herd.status('off')).toMatchObject({ state: 'created', pids: [] });
  });

  test('a server that cannot start ends in quarantine', async () => {
    const herd = await startHerd(config([good]));
    const bad = server('bad', 'exits-at-start.mjs', { max_restarts: 1, backoff: { min: 0.01, max: 0.01 } });
    herd.home.configure(config([good, bad]));
    await herd.fleet.reload();
    await until(async () => (await herd.status('bad')).detail === 'quarantined');
    const { incarnation } = await herd.status('bad');
    const [missing] = (await herd.fleet.tools()).missing;
    expect(missing).toMatchObject({
      server: 'bad',
      reason: expect.stringMatching(/^it is quarantined: /),
    });
    expect((await herd.status('bad')).incarnation).toBe(incarnation);
  });
});
