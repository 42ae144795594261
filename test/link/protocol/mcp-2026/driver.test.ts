import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/shared/call-sink.js';
import { NOISE_MS } from '../../../support/noise.js';
import { deferred, errorOf, openLink, specOf, textOf } from '../../support.js';
import { remembering } from '../negotiation/remembering.js';

const KEY = 'io.modelcontextprotocol';
const modern = (changes = {}, args: string[] = []) => specOf('modern.mjs', changes, args);

describe('an MCP 2026 server', () => {
  it('describes itself, and serves lists and calls (FR-002)', async () => {
    const { opened, link, tool } = openLink(modern());
    expect(await opened).toMatchObject({
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'modern', version: '1.0.0' },
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
      instructions: 'be modern',
    });
    expect(await tool('echo', { value: 'hi' })).toBe('hi');
    const ttls: number[] = [];
    const tools = await link.list('tools/list', (ttlMs) => ttls.push(ttlMs));
    expect([tools.map(({ name }) => name).includes('confirm'), ttls]).toEqual([true, [5000]]);
    expect((await link.list('prompts/list')).map(({ name }) => name)).toEqual(['greet']);
    expect(
      await link.session.call('prompts/get', { name: 'greet', arguments: { name: 'you' } }),
    ).toMatchObject({
      resultType: 'complete',
      messages: [{ content: { text: 'hello you' } }],
    });
    expect(await link.session.call('resources/read', { uri: 'note://one' })).toMatchObject({
      contents: [{ text: 'noted' }],
    });
  });

  it('gets client, capabilities and config with every request (FR-011)', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const { link } = openLink(modern({ roots, config: { level: 3 } }), {
      clientInfo: { name: 'toolherd', version: '1.2.3' },
      logLevel: () => 'warning' as const,
    });
    const request = async (ask?: () => Promise<Record<string, unknown>>) => {
      const settled = deferred<Outcome>();
      const params = { name: 'request', arguments: {}, _meta: { mine: 1 } };
      link.session.send({ method: 'tools/call', params }, { settle: settled.resolve, ask });
      const outcome = await settled.promise;
      return JSON.parse(outcome.ok ? textOf(outcome.result) : '');
    };
    expect(await request()).toEqual({
      envelope: {
        [`${KEY}/protocolVersion`]: '2026-07-28',
        [`${KEY}/clientInfo`]: { name: 'toolherd', version: '1.2.3' },
        [`${KEY}/clientCapabilities`]: { roots: expect.anything() },
        [`${KEY}/logLevel`]: 'warning',
      },
      _meta: { mine: 1, 'toolherd/config': { level: 3 } },
    });
    // where an agent can be asked, the server may
    const { envelope } = await request(async () => ({}));
    expect(Object.keys(envelope[`${KEY}/clientCapabilities`]).sort()).toEqual([
      'elicitation',
      'roots',
      'sampling',
    ]);
  });

  it('gets the present log level with every request', async () => {
    let level: 'debug' | 'error' = 'error';
    const { link, opened, tool } = openLink(modern(), { logLevel: () => level });
    await opened;
    const said = async () => JSON.parse(await tool('request')).envelope[`${KEY}/logLevel`];
    expect(await said()).toBe('error');
    level = 'debug';
    link.renewLogLevel();
    expect(await said()).toBe('debug');
  });

  it('sends progress and log messages', async () => {
    const { link, notifications, opened } = openLink(modern(), { logLevel: () => 'info' as const });
    await opened;
    const progress: unknown[] = [];
    const onProgress = (value: unknown) => progress.push(value);
    await link.session.call('tools/call', { name: 'progress', arguments: { times: 3 } }, { onProgress });
    expect(progress).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3 })));
    for (const level of ['debug', 'warning']) {
      await link.session.call('tools/call', { name: 'log', arguments: { level, value: level } });
    }
    expect(notifications.filter(({ method }) => method === 'notifications/message')).toMatchObject([
      { params: { level: 'warning', data: 'warning' } },
    ]);
  });

  it('lives as long as it answers server/discover; there is no ping', async () => {
    const { link, opened, tool } = openLink(modern());
    await opened;
    await link.ping(5000);
    const pid = Number(await tool('pid'));
    process.kill(pid, 'SIGSTOP');
    expect(await errorOf(link.ping(200))).toMatchObject({ type: 'MCPTimeoutError' });
    process.kill(pid, 'SIGCONT');
    await link.ping(5000);
  });

  it('reports that its tools changed, because of a subscription', async () => {
    const { tool, notifications, opened } = openLink(modern());
    await opened;
    await tool('change');
    expect(notifications.map(({ method }) => method)).toEqual(['notifications/tools/list_changed']);
  });

  it('that is killed in mid-call fails the call at once, as sent (P1)', async () => {
    const { link, tool, opened, ended } = openLink(modern());
    await opened;
    const others = [errorOf(tool('wait')), errorOf(tool('wait'))];
    const startedAt = performance.now();
    expect(await errorOf(tool('kill'))).toMatchObject({
      type: 'ServerCrashedError',
      sent: true,
      retryable: false,
    });
    for (const error of await Promise.all(others))
      expect(error).toMatchObject({ type: 'ServerCrashedError' });
    expect(performance.now() - startedAt).toBeLessThan(1000 + NOISE_MS);
    expect(await ended).toMatchObject({ cause: 'exit', signal: 'SIGKILL' });
    expect(await errorOf(link.ping(1000))).toMatchObject({ type: 'MCPConnectionError' });
  });
});

describe('a subscription that ends while the server lives', () => {
  it('begins again, and possible changes in between are reported', async () => {
    const { opened, notifications, logs, logged } = openLink(specOf('discovers.mjs', {}, ['drops']), {
      era: remembering('mcp2026'),
    });
    await opened;
    await logged(/listens/);
    logs.length = 0;
    await logged(/listens {"toolsListChanged":true}/);
    logs.length = 0;
    await logged(/listens/);
    expect(notifications[0]).toEqual({ method: 'notifications/tools/list_changed', params: undefined });
    expect(notifications.every(({ method }) => !method.includes('acknowledged'))).toBe(true);
  });
});

it('a server that refuses our version and lists it as supported is asked once more only', async () => {
  const { opened } = openLink(specOf('discovers.mjs', {}, ['again']));
  expect(await opened).toMatchObject({ protocolVersion: '2026-07-28', serverInfo: { name: 'again' } });
  const stubborn = openLink(specOf('discovers.mjs', {}, ['never']));
  await expect(stubborn.opened).rejects.toThrow();
  expect((await stubborn.ended).kind).toBe('error');
});
