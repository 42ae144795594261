import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ask, Outcome } from '../../../../src/shared/call-sink.js';
import { NOISE_MS } from '../../../support/noise.js';
import { freePort, SUPERGATEWAY } from '../../../support/remote-servers.js';
import { deferred, errorOf, open, remoteSpec, textOf } from '../../remote/support.js';
import { fixture } from '../../support.js';
import { remembering } from '../negotiation/remembering.js';

function start(words: string[]): ChildProcess {
  const child = spawn(process.execPath, words, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    process.kill(-Number(child.pid), 'SIGKILL');
    await exited;
  });
  return child;
}

/** What the server prints, until it says that it listens. */
async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const match = pattern.exec(line);
    if (match !== null) return match[1] ?? match[0];
  }
  throw new Error('it ended without having listened');
}

async function overHttp(...args: string[]): Promise<string> {
  const child = start([fixture('modern-http.mjs'), ...args]);
  return `http://127.0.0.1:${await said(child, /listening on (\d+)/)}/mcp`;
}

async function overWebsocket(): Promise<string> {
  const port = await freePort();
  const stdio = `exec ${process.execPath} ${fixture('modern.mjs')} only`;
  const child = start([SUPERGATEWAY, '--stdio', stdio, '--outputTransport', 'ws', '--port', String(port)]);
  await said(child, /listening on port/i);
  child.stdout?.resume();
  return `ws://127.0.0.1:${port}/message`;
}

describe.each([
  ['http', () => overHttp('only')],
  ['websocket', overWebsocket],
] as const)('an MCP 2026 server over %s', (transport, url) => {
  it('lists, calls and reports changes as over stdio', async () => {
    const spec = remoteSpec(transport, await url(), { config: { level: 3 } });
    const { link, opened, tool, notifications, notified } = open(spec, { logLevel: () => 'info' as const });
    expect(await opened).toMatchObject({ protocolVersion: '2026-07-28', serverInfo: { name: 'modern' } });
    expect(await tool('echo', { value: 'hi' })).toBe('hi');
    expect(JSON.parse(await tool('request'))).toMatchObject({ _meta: { 'toolherd/config': { level: 3 } } });
    const ttls: number[] = [];
    expect((await link.list('tools/list', (ttlMs) => ttls.push(ttlMs))).length).toBeGreaterThan(5);
    expect(ttls).toEqual([5000]);
    expect(await link.session.call('resources/read', { uri: 'note://one' })).toMatchObject({
      contents: [{ text: 'noted' }],
    });
    const params = { name: 'greet', arguments: { name: 'you' } };
    expect(await link.session.call('prompts/get', params)).toMatchObject({
      messages: [{ content: { text: 'hello you' } }],
    });
    const progress: unknown[] = [];
    const onProgress = (value: unknown) => progress.push(value);
    await link.session.call('tools/call', { name: 'progress', arguments: { times: 2 } }, { onProgress });
    expect(progress).toEqual([1, 2].map((step) => ({ progress: step, total: 2 })));
    await tool('log', { level: 'warning', value: 'careful' });
    expect(await notified('notifications/message')).toMatchObject({ level: 'warning', data: 'careful' });
    await link.ping(5000);
    await tool('change');
    await notified('notifications/tools/list_changed');
    expect(notifications.map(({ method }) => method)).not.toContain(
      'notifications/subscriptions/acknowledged',
    );
  });

  it('gets answers to its questions', async () => {
    const { link, opened } = open(remoteSpec(transport, await url()));
    await opened;
    const settled = deferred<Outcome>();
    const ask: Ask = async () => ({ action: 'accept', content: { yes: true } });
    const params = { name: 'confirm', arguments: { rounds: 2 } };
    link.session.send({ method: 'tools/call', params }, { settle: settled.resolve, ask });
    const outcome = await settled.promise;
    expect(outcome.ok && textOf(outcome.result)).toBe('round 2: {"yes":true}');
  });

  it('that is killed in mid-call fails the call within a second (U6)', async () => {
    const { opened, tool } = open(remoteSpec(transport, await url()));
    await opened;
    const waiting = errorOf(tool('wait'));
    await tool('echo', { value: 'it has it' });
    const startedAt = performance.now();
    void errorOf(tool('kill'));
    expect(await waiting).toMatchObject({ sent: true, retryable: false });
    expect(performance.now() - startedAt).toBeLessThan(1000 + NOISE_MS);
  });
});

describe('the era of an HTTP server', () => {
  it.each([
    [['only'], 'mcp2025', '2026-07-28', ['keep mcp2026']],
    [[], 'mcp2025', '2025-11-25', []],
    [[], undefined, '2026-07-28', ['keep mcp2026']],
    [[], 'mcp2026', '2026-07-28', []],
  ] as const)('%j that was %s is %s, and remembered: %j', async (args, before, version, told) => {
    const era = remembering(before);
    const { opened, tool } = open(remoteSpec('http', await overHttp(...args)), { era });
    expect(await opened).toMatchObject({ protocolVersion: version });
    expect(await tool('echo', { value: 'x' })).toBe('x');
    expect(era.told).toEqual(told);
  });
});
