import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallEvent } from '../../src/fleet/fleet.js';
import { openFleet } from '../../src/index.js';
import { config, server } from '../faults/config.js';
import { ask, HttpClient } from '../ipc/http/support.js';
import { LineClient } from '../ipc/mcp/support.js';
import { DIST, toolherd } from '../support/command.js';
import {
  type Herd,
  type Home,
  herdIn,
  isAlive,
  killDaemon,
  makeHome,
  startHerd,
  until,
} from '../support/herd.js';

const HERD = config([
  server('good', 'good.mjs'),
  server('content', 'content.mjs'),
  server('off', 'good.mjs', { enabled: false }),
  server('hears', 'hears-cancel.mjs'),
]);
/** A value that must be nowhere. */
const VALUE = 'a value that must stay secret';
const SHAPE = { value: 'string' };

const fileOf = ({ folder }: Home, suffix = '') => join(folder, 'state', 'logs', `audit.log${suffix}`);

function recordsIn(home: Home, suffix = ''): CallEvent[] {
  if (!existsSync(fileOf(home, suffix))) return [];
  // what has no newline yet is on its way
  const lines = readFileSync(fileOf(home, suffix), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as CallEvent);
}

/** The records, after the expected number was written and a further batch added none. */
async function written(herd: Herd, count: number, before = 0): Promise<CallEvent[]> {
  await until(() => recordsIn(herd.home).length >= before + count);
  // two more calls, a batch apart: every earlier record is written by then
  for (const _ of [1, 2]) {
    const { length } = recordsIn(herd.home);
    await herd.say('good', 'pid');
    await until(() => recordsIn(herd.home).length > length);
  }
  return recordsIn(herd.home).slice(before, -2);
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '2' },
};

describe('the audit file', () => {
  it('has one record of each call on every way, with its caller and no value (X1)', async () => {
    const herd = await startHerd(HERD);
    const { home, fleet } = herd;
    const call = { name: 'good__echo', arguments: { value: VALUE } };
    const lines = new LineClient(home.socket);
    await lines.hello();
    await lines.ask(1, 'tools/call', call);
    await lines.ask(2, 'tools/call', call);
    await lines.ask(3, 'tools/call', { ...call, _meta: META });
    const http = new HttpClient({ socketPath: home.socket });
    await http.initialize();
    await http.request('tools/call', call);
    const modern = new HttpClient({ socketPath: home.socket }, '/mcp', {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'good__echo',
    });
    await modern.request('tools/call', { ...call, _meta: META });
    const clientInfo = { name: 'bridged', version: '3' };
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const said = [
      { id: 1, method: 'initialize', params: initialize },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: call },
    ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    await toolherd(['bridge'], { cwd: home.folder, env: home.environment, input: said.join('') });
    const one = { server: 'good', tool: 'echo', arguments: { value: VALUE } };
    await fleet.call({ ...one, request_id: 'mine' });
    await fleet.callMany({ calls: [one, { ...one, tool: 'good__echo' }] });
    await fleet.broadcast({ tool: 'echo', arguments: { value: VALUE }, servers: ['good'] });
    await fleet.request({ method: 'tools/call', params: call });

    const records = await written(herd, 11);
    expect(
      records.map(({ via, client, request_id }) => [via, client?.name, client?.version, request_id]),
    ).toEqual([
      ['socket', 'lines', '1', null],
      ['socket', 'lines', '1', null],
      ['socket', 'modern', '2', null],
      ['http', 'test', '1', null],
      ['http', 'modern', '2', null],
      ['socket', 'bridged', '3', null],
      ['socket', 'toolherd/client', expect.any(String), 'mine'],
      ...[1, 2, 3].map(() => [
        'socket',
        'toolherd/client',
        expect.any(String),
        expect.stringMatching(/^\d+-\d+$/),
      ]),
      ['socket', 'toolherd/client', expect.any(String), null],
    ]);
    for (const record of records) {
      expect(record).toEqual({
        ...{ topic: 'call', server: 'good', method: 'tools/call', tool: 'echo', arguments: SHAPE },
        ...{
          agent: null,
          daemon_pid: herd.daemon.pid,
          incarnation: 1,
          sent: true,
          ok: true,
          error: null,
          code: null,
        },
        caller: expect.stringMatching(/^connection \d+$/),
        via: record.via,
        client: record.client,
        request_id: record.request_id,
        duration_ms: expect.any(Number),
        bytes: expect.any(Number),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
      expect(record.bytes).toBeGreaterThan(VALUE.length);
    }
    expect(new Set(records.map(({ caller }) => caller)).size).toBe(5);
    expect(readFileSync(fileOf(home), 'utf8')).not.toContain(VALUE);
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  });

  it('has how each call ended: refused, failed, timed out, crashed or cancelled, and whether it was sent', async () => {
    const herd = await startHerd(HERD);
    const { home, fleet } = herd;
    const lines = new LineClient(home.socket);
    await lines.hello();
    const call = (name: string, args = {}) => lines.ask(name, 'tools/call', { name, arguments: args });
    // what a server has is known once it was asked
    await fleet.tools();
    await fleet.call({ server: 'absent', tool: 'x', arguments: { value: VALUE } });
    await fleet.call({ server: 'good', tool: 'nothing' });
    await fleet.call({ server: 'off', tool: 'echo' });
    await call('absent__tool');
    await call('off__echo');
    await lines.ask('p', 'prompts/get', { name: 'good__none', arguments: { topic: VALUE } });
    await call('good__refuse');
    await call('content__fails');
    await call('content__long', { lengths: [20_000], isError: true });
    await call('content__long', { lengths: [20_000] });
    await fleet.call({ server: 'hears', tool: 'hang', timeout_ms: 500 });
    await call('good__kill');
    const gone = new LineClient(home.socket);
    await gone.hello();
    gone.say({ id: 1, method: 'tools/call', params: { name: 'hears__hang', arguments: { gone: true } } });
    await until(async () => (await herd.status('hears')).in_flight === 1);
    gone.close();
    const results = await fleet.callMany({
      calls: [1, 2].map(() => ({ server: 'good', tool: 'pid' })),
      concurrency: 1,
      mode: 'first',
    });
    expect(results.map(({ error }) => error?.type)).toEqual([undefined, 'CancelledError']);

    const records = await written(herd, 15);
    const told = records.map(({ server: name, tool, error, sent, incarnation }) => [
      ...[name, tool, error, sent, incarnation],
    ]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['absent', 'x', 'ServerNotFoundError', false, null],
        ['good', 'nothing', 'MCPToolNotFoundError', false, null],
        ['off', 'echo', 'ServerUnavailableError', false, null],
        ['', 'absent__tool', 'MCPToolNotFoundError', false, null],
        ['off', 'off__echo', 'ServerUnavailableError', false, null],
        ['good', null, 'MCPPromptNotFoundError', false, null],
        ['good', 'refuse', 'MCPProtocolError', true, 1],
        ['content', 'fails', 'MCPToolError', true, 1],
        ['content', 'long', 'MCPToolError', true, 1],
        ['content', 'long', null, true, 1],
        ['hears', 'hang', 'MCPTimeoutError', true, 1],
        ['good', 'kill', 'ServerCrashedError', true, 1],
        ['hears', 'hang', 'CancelledError', true, 1],
        ['good', 'pid', null, true, 2],
        ['good', 'pid', 'CancelledError', false, null],
      ]),
    );
    expect(told.length).toBe(15);
    expect(
      records.find(({ server: name, error }) => name === 'hears' && error === 'CancelledError')?.client,
    ).toEqual({ name: 'lines', version: '1' });
    const [big] = records.filter(({ tool, ok }) => tool === 'long' && ok);
    expect(big?.bytes).toBeGreaterThan(20_000);
    expect(big?.arguments).toEqual({ lengths: ['number'] });
    expect(readFileSync(fileOf(home), 'utf8')).not.toContain(VALUE);
  });

  it('equals the call events, also for calls that no server took, and has the agent file of the connection', async () => {
    const herd = await startHerd(HERD);
    const heard: unknown[] = [];
    herd.fleet.subscribe(['call'], (event) => heard.push(event));
    await herd.fleet.call({ server: 'absent', tool: 'x' });
    const agent = join(herd.home.folder, 'agent.yaml');
    writeFileSync(agent, 'tools: []\n');
    const lines = new LineClient(herd.home.socket);
    await lines.ask('hello', 'fleet/hello', { agent });
    await lines.ask('call', 'fleet/call', { server: 'good', tool: 'pid' });
    await until(() => heard.length === 2);
    await until(() => recordsIn(herd.home).length === 2);
    expect(heard).toEqual(recordsIn(herd.home));
    expect(heard).toMatchObject([
      { agent: null, error: 'ServerNotFoundError' },
      { agent, client: null },
    ]);
  });

  it('has no secret, also if it is given as a name (X1)', async () => {
    const secret = 'hunter2hunter';
    const env = { API_KEY: '${CANARY}' };
    const herd = await startHerd(config([server('good', 'good.mjs', { env })]), {
      environment: { CANARY: secret },
    });
    const heard: unknown[] = [];
    herd.fleet.subscribe(['call'], (event) => heard.push(event));
    const args = { [secret]: 1, inner: { [secret]: secret } };
    await herd.fleet.call({ server: 'good', tool: 'echo', arguments: args, request_id: secret });
    await herd.fleet.call({ server: secret, tool: `x ${secret}` });
    const records = await written(herd, 2);
    expect(records.map(({ server: name }) => name)).toEqual(['good', '[redacted:CANARY]']);
    expect(readFileSync(fileOf(herd.home), 'utf8') + JSON.stringify(heard)).not.toContain(secret);
  });

  it('has the calls of the library in another process, beside those of the daemon', async () => {
    const herd = await startHerd(HERD);
    vi.stubEnv('TOOLHERD_HOME', herd.home.folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const fleet = await openFleet();
    await fleet.call('good', 'echo', { value: VALUE });
    await fleet.close();
    expect(recordsIn(herd.home)).toMatchObject([
      { via: 'library', daemon_pid: process.pid, tool: 'echo', arguments: SHAPE, ok: true },
    ]);
    await herd.say('good', 'pid');
    const records = await until(() => recordsIn(herd.home)[1]);
    expect(records).toMatchObject({ via: 'socket', daemon_pid: herd.daemon.pid });
  });

  it('is complete when the daemon ends; a killed daemon loses its last batch at most', async () => {
    const home = makeHome(HERD);
    const first = await herdIn(home, await home.start());
    for (let count = 0; count < 20; count += 1) await first.say('good', 'pid');
    first.daemon.kill('SIGTERM');
    await until(() => !isAlive(first.daemon.pid));
    expect(recordsIn(home).length).toBe(20);

    const second = await herdIn(home, await home.start());
    await second.say('good', 'pid');
    await until(() => recordsIn(home).length === 21);
    await second.say('good', 'pid');
    await killDaemon(home, second.daemon);
    expect([21, 22]).toContain(recordsIn(home).length);
  });

  it('is complete after a second signal, and after a program that does not close its fleet', async () => {
    const slow = server('slow', 'stubborn.mjs', { stop: { close: 20, term: 20 } });
    const home = makeHome(config([server('good', 'good.mjs'), slow]));
    const herd = await herdIn(home, await home.start());
    await herd.fleet.start({ servers: ['slow'] }, true);
    for (let count = 0; count < 5; count += 1) await herd.say('good', 'pid');
    herd.daemon.kill('SIGTERM');
    await sleep(1200);
    herd.daemon.kill('SIGINT');
    await until(() => !isAlive(herd.daemon.pid));
    expect(recordsIn(home).length).toBe(5);

    const script = join(home.folder, 'script.mjs');
    const library = JSON.stringify(join(DIST, 'index.js'));
    writeFileSync(
      script,
      `import { openFleet } from ${library};\nconst fleet = await openFleet();\nawait fleet.call('good', 'pid');\nprocess.exit();`,
    );
    const child = spawn(process.execPath, [script], { env: home.environment, stdio: 'ignore' });
    await once(child, 'close');
    expect(recordsIn(home)[5]).toMatchObject({ via: 'library', daemon_pid: child.pid, ok: true });
  });

  it('never grows beyond its cap', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')], { log_max_bytes: 4096 }));
    for (let count = 0; count < 60; count += 1) await herd.say('good', 'echo', { value: VALUE });
    await until(() => existsSync(fileOf(herd.home, '.1')));
    for (const suffix of ['', '.1']) {
      expect(statSync(fileOf(herd.home, suffix)).size).toBeLessThanOrEqual(4096);
      expect(recordsIn(herd.home, suffix).length).toBeGreaterThan(0);
    }
  });

  it('C4: loses records on a full disk, which are counted and logged, and never a call', async () => {
    const home = makeHome(HERD);
    await mkdir(join(home.folder, 'state', 'logs'), { recursive: true, mode: 0o700 });
    symlinkSync('/dev/full', fileOf(home));
    const herd = await herdIn(home, await home.start());
    for (const value of ['a', 'b']) expect(await herd.say('good', 'echo', { value })).toBe(value);
    await until(async () => (await herd.fleet.status()).daemon.audit?.lost === 2);
    const metrics = (await ask({ socketPath: home.socket }, '/metrics')).text;
    expect(metrics).toContain('toolherd_audit_lost_total 2');
    const { stdout } = await toolherd(['doctor'], { cwd: home.folder, env: home.environment });
    expect(stdout).toMatch(/warn +audit +2 calls could not be written down/);
    const log = readFileSync(join(home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
    expect(log.match(/calls are not recorded/g)?.length).toBe(1);
  });
});
