import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { type Herd, isAlive, processesOf, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

/** Crashes are what these tests are about: none of them is to end in quarantine. */
const OFTEN = { max_restarts: 100, backoff: { min: 0.05, max: 0.05 } };

/** A file that was only opened has none. */
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** Calls a tool that never answers, kills its server when it runs, and measures how long the caller waits for that. */
async function killInMidCall({ fleet, home, say }: Herd, round: number) {
  const file = join(home.folder, `ran-${round}`);
  const pid = Number(await say('one', 'pid'));
  const call = fleet.call({ server: 'one', tool: 'wait', arguments: { file } });
  await until(() => linesOfIfAny(file).length > 0);
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  const { error, success } = await call;
  const waitedMs = performance.now() - killedAt;
  expect({ success, error }).toMatchObject({
    success: false,
    error: { type: 'ServerCrashedError', sent: true, message: 'one: was killed by SIGKILL' },
  });
  return { waitedMs, file, pid };
}

function linesOfIfAny(file: string): string[] {
  try {
    return linesOf(file);
  } catch {
    return [];
  }
}

describe('a server that dies during a call', () => {
  it('P4 FR-023 US5.2 I10: fails that call at once, the next call gets a new process, and the tool ran once', async () => {
    const herd = await startHerd(config([server('one', 'dies-in-call.mjs', OFTEN)]));
    const file = join(herd.home.folder, 'ran');
    const before = Number(await herd.say('one', 'pid'));
    const { error, metadata } = await herd.fleet.call({ server: 'one', tool: 'exit', arguments: { file } });
    expect(error).toMatchObject({
      type: 'ServerCrashedError',
      sent: true,
      message: 'one: exited with code 7',
    });
    expect(metadata.incarnation).toBe(1);

    const after = await herd.fleet.call({ server: 'one', tool: 'pid' });
    expect(after).toMatchObject({ success: true, metadata: { incarnation: 2 } });
    expect(after.content).not.toEqual([{ type: 'text', text: String(before) }]);
    expect(linesOf(file)).toEqual([String(before)]);
  });

  it('P9 FR-023: serves a call that came right after the crash as soon as a new call could make the next try', async () => {
    // a call may make the next try after 2 s; without one it comes after 6 s
    const slow = { max_restarts: 5, backoff: { min: 6, max: 6, factor: 1, jitter: 0 } };
    const herd = await startHerd(config([server('one', 'dies-in-call.mjs', slow)]));
    for (const file of ['first', 'second']) {
      await herd.fleet.call({
        server: 'one',
        tool: 'exit',
        arguments: { file: join(herd.home.folder, file) },
      });
    }
    const { next_retry_at } = await until(async () => {
      const status = await herd.status('one');
      return status.detail === 'waiting' && status;
    });
    expect(await herd.fleet.call({ server: 'one', tool: 'pid' })).toMatchObject({ success: true });
    expect(Date.now()).toBeLessThan(Date.parse(next_retry_at ?? ''));
  });

  it('P4: fails the call within 100 ms of the kill, plus the noise of the machine', async () => {
    const herd = await startHerd(config([server('one', 'dies-in-call.mjs', OFTEN)]));
    const rounds = [];
    for (let round = 0; round < 5; round += 1) rounds.push(await killInMidCall(herd, round));
    const waits = rounds.map(({ waitedMs }) => waitedMs);
    measured(`P4: callers got the error after ${waits.map(millis).join(', ')}`);
    expect(Math.min(...waits)).toBeLessThan(100 + NOISE_MS / 10);
    expect(Math.max(...waits)).toBeLessThan(100 + NOISE_MS);
    for (const { file, pid } of rounds) expect(linesOf(file)).toEqual([String(pid)]);
  });

  it('P4 I2: leaves each of many calls in flight with exactly one reply', async () => {
    const herd = await startHerd(config([server('one', 'dies-in-call.mjs', OFTEN)]));
    const file = join(herd.home.folder, 'ran');
    const pid = Number(await herd.say('one', 'pid'));
    const socket = connect(herd.home.socket);
    const replies = new Map<number, unknown[]>();
    createInterface({ input: socket }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id: number; result: unknown };
      replies.set(id, [...(replies.get(id) ?? []), result]);
    });
    const send = (id: number, tool: string, args = {}) =>
      socket.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, method: 'fleet/call', params: { server: 'one', tool, arguments: args } })}\n`,
      );
    const ids = Array.from({ length: 100 }, (_, index) => index + 1);
    for (const id of ids) send(id, 'wait', { file });
    await until(() => linesOfIfAny(file).length === ids.length);
    process.kill(pid, 'SIGKILL');
    await until(() => replies.size === ids.length);
    send(1000, 'pid');
    await until(() => replies.has(1000));
    socket.destroy();
    expect(replies.get(1000)).toMatchObject([{ success: true }]);
    for (const id of ids) {
      expect(replies.get(id)).toMatchObject([{ error: { type: 'ServerCrashedError', sent: true } }]);
    }
    expect(linesOf(file)).toEqual(ids.map(() => String(pid)));
  });

  it('P5: fails the call also when a helper holds its stdout, and the helper is killed', async () => {
    const herd = await startHerd(config([server('one', 'leaves-helper.mjs', OFTEN)]));
    const helper = Number(await herd.say('one', 'helper'));
    expect(isAlive(helper)).toBe(true);
    const began = performance.now();
    const { error } = await herd.fleet.call({ server: 'one', tool: 'exit' });
    const tookMs = performance.now() - began;
    measured(`P5: the caller got the error after ${millis(tookMs)}`);
    expect(tookMs).toBeLessThan(500 + NOISE_MS);
    expect(error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    const next = await herd.fleet.call({ server: 'one', tool: 'helper' });
    expect(next).toMatchObject({ success: true, metadata: { incarnation: 2 } });
    expect(isAlive(helper)).toBe(false);
  });

  it('SC-006: affects no other server', async () => {
    const herd = await startHerd(
      config([server('one', 'dies-in-call.mjs', OFTEN), server('other', 'good.mjs')]),
    );
    const pid = await herd.say('other', 'pid');
    const file = join(herd.home.folder, 'ran');
    for (let round = 0; round < 3; round += 1) {
      const [crash, answer] = await Promise.all([
        herd.fleet.call({ server: 'one', tool: 'exit', arguments: { file } }),
        herd.say('other', 'echo', { value: 'here' }),
      ]);
      expect(crash.error?.type).toBe('ServerCrashedError');
      expect(answer).toBe('here');
    }
    expect(await herd.say('other', 'pid')).toBe(pid);
    expect(await herd.status('other')).toMatchObject({ incarnation: 1, restarts: 0, failures: 0 });
  });
});

describe('a server that dies while its lists are read', () => {
  it.each(['singleton', 'transient'])('is not shown as a server without tools: %s', async (lifecycle) => {
    const file = 'asked';
    const herd = await startHerd(
      config([server('one', 'dies-of-first-list.mjs', { args: [`./${file}`], lifecycle, ...OFTEN })]),
    );
    await herd.fleet.tools('one');
    const { error } = await until(async () => {
      const result = await herd.fleet.call({ server: 'one', tool: 'pid' });
      return result.error?.type !== 'ServerCrashedError' && result;
    });
    expect(error).toBeNull();
  });
});

describe('I1: a singleton never has two processes', () => {
  it('orders, crashes and config changes at the same time leave it one process', async () => {
    const entry = (value: string) =>
      config([server('one', 'alone.mjs', { args: ['./lives'], env: { VALUE: value }, ...OFTEN })]);
    const { home, fleet, say, daemon } = await startHerd(entry('0'));
    const one = { servers: ['one'] };
    for (let round = 1; round <= 4; round += 1) {
      await Promise.all([fleet.restart(one), fleet.start(one), say('one', 'exit'), fleet.restart(one, true)]);
      await Promise.all([fleet.stop(one), fleet.start(one), fleet.stop(one), fleet.restart(one, true)]);
      home.configure(entry(String(round)));
      await Promise.all([fleet.reload(), say('one', 'exit'), fleet.restart(one, true)]);
    }
    const pid = Number(await say('one', 'pid'));
    const servers = processesOf(daemon.id).filter(({ words }) => words.includes('alone.mjs'));
    expect(servers.map((found) => found.pid)).toEqual([pid]);
    const lives = linesOf(join(home.folder, 'lives'));
    expect(lives).not.toContain('not alone');
    expect(lives.length).toBeGreaterThan(4);
  });
});
