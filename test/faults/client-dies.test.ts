import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../ipc/support.js';
import { COMMAND } from '../support/command.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { openFiles } from '../support/processes.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

/** What is promised; a machine that does six other things at once may take longer for one, hardly for most. */
const PROMISED_MS = 100;
const ANY_MS = PROMISED_MS + NOISE_MS;
const MEDIAN_MS = PROMISED_MS + NOISE_MS / 5;
const ROUNDS = 3;
const HANG = { server: 'it', tool: 'hang' };

interface Memory {
  cancelled: { id: number; at: number }[];
  noted: string[];
}

const startCancelHerd = (fields: Record<string, unknown> = {}) =>
  startHerd(config([server('it', 'hears-cancel.mjs', fields)]));

const remember = async (herd: Herd) => JSON.parse(await herd.say('it', 'memory')) as Memory;
const line = (method: string, params: unknown, id: unknown = 1) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

/** Number of connections that the daemon holds. */
const openSockets = ({ daemon }: Herd) => openFiles(daemon.pid).filter((name) => name === 'socket').length;

const INITIALIZE = line(
  'initialize',
  { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  'hello',
);
const MCP_CALL = line('tools/call', { name: 'it__hang', arguments: {} });

function run({ home }: Herd, words: readonly string[], input = ''): ChildProcess {
  const child = spawn(process.execPath, words, {
    cwd: home.folder,
    env: home.environment,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.on('error', () => undefined).write(input);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const script = (herd: Herd, text: string) =>
  run(herd, [
    '-e',
    `require('node:net').connect(${JSON.stringify(herd.home.socket)}).write(${JSON.stringify(text)})`,
  ]);

/** Every way to call, each from another process. */
const WAYS: { name: string; calls: number; start(herd: Herd): ChildProcess }[] = [
  { name: 'fleet/call', calls: 1, start: (herd) => script(herd, line('fleet/call', HANG)) },
  {
    name: 'fleet/call_many',
    calls: 3,
    start: (herd) => script(herd, line('fleet/call_many', { calls: [HANG, HANG, HANG] })),
  },
  { name: 'tools/call of MCP', calls: 1, start: (herd) => script(herd, MCP_CALL) },
  { name: 'the bridge', calls: 1, start: (herd) => run(herd, [COMMAND, 'bridge'], INITIALIZE + MCP_CALL) },
  { name: 'the command', calls: 1, start: (herd) => run(herd, [COMMAND, 'call', 'it.hang']) },
];

describe('S9: a client that dies during a call', () => {
  it.each(WAYS)(
    'a call by $name is cancelled at the server at once, and the connection of its client is closed',
    async ({ name, start, calls }) => {
      const herd = await startCancelHerd();
      await herd.fleet.start({ all: true }, true);
      const sockets = openSockets(herd);
      const delays: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const child = start(herd);
        await until(async () => (await herd.status('it')).in_flight === calls);
        const killedAt = Date.now();
        child.kill('SIGKILL');
        await once(child, 'exit');
        const heard = await until(async () => {
          const { cancelled } = await remember(herd);
          return cancelled.length === (round + 1) * calls && cancelled;
        });
        delays.push(...heard.slice(-calls).map(({ at }) => at - killedAt));
      }
      expect(Math.max(...delays)).toBeLessThan(ANY_MS);
      expect(delays.sort((a, b) => a - b)[delays.length >> 1]).toBeLessThan(MEDIAN_MS);
      measured(`S9: by ${name}, cancelled after ${delays.join(', ')} ms`);
      const { cancelled } = await remember(herd);
      expect(new Set(cancelled.map(({ id }) => id)).size).toBe(ROUNDS * calls);
      await until(async () => (await herd.status('it')).in_flight === 0);
      await until(() => openSockets(herd) === sockets);
    },
  );

  it('has its waiting calls dropped: they are never written', async () => {
    const herd = await startCancelHerd({ max_in_flight: 1 });
    const abort = new AbortController();
    await herd.fleet.tools('it');
    const sockets = openSockets(herd);
    const running = herd.fleet.call(HANG, { signal: abort.signal });
    await until(async () => (await herd.status('it')).in_flight === 1);
    const dying = await RawClient.open(herd.home.socket);
    for (const value of ['one', 'two', 'three'])
      dying.ask(value, 'fleet/call', { server: 'it', tool: 'note', arguments: { value } });
    // requests begin in their order: when this is answered, those stand in line
    expect(await dying.answer('fleet/status')).toMatchObject({ id: 'answer' });
    dying.socket.destroy();
    await until(() => openSockets(herd) === sockets);
    const note = { server: 'it', tool: 'note', arguments: { value: 'last' } };
    const last = herd.fleet.call(note);
    abort.abort();
    expect((await running).error?.type).toBe('CancelledError');
    expect((await last).success).toBe(true);
    expect(await remember(herd)).toMatchObject({ noted: ['hang', 'last'], cancelled: [{}] });
  });

  it('differs from one that only closed its writing side, which gets its reply (`echo … | socat`)', async () => {
    const herd = await startCancelHerd();
    const client = await RawClient.open(herd.home.socket, { allowHalfOpen: true });
    client.socket.end(line('fleet/call', { server: 'it', tool: 'later', arguments: { ms: 700 } }));
    expect(await client.next()).toMatchObject({ id: 1, result: { success: true } });
    await client.closed;
    expect(await remember(herd)).toMatchObject({ cancelled: [] });
  });

  it('is noticed by its closed connection, after end and after destroy', async () => {
    const herd = await startCancelHerd();
    for (const [at, leave] of (['end', 'destroy'] as const).entries()) {
      const client = await RawClient.open(herd.home.socket);
      client.ask(1, 'fleet/call', HANG);
      await until(async () => (await remember(herd)).noted.length === at + 1);
      client.socket[leave]();
      if (leave === 'end') client.socket.destroy();
      await until(async () => (await remember(herd)).cancelled.length === at + 1);
    }
  });
});
