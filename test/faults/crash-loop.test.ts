import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Herd, isAlive, processesOf, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { command, config, fixturePath, server } from './config.js';
import { measured, millis } from './measured.js';

const QUICK = { backoff: { min: 0.02, max: 0.05 } };

const inQuarantine = ({ status }: Herd, name: string) =>
  until(async () => {
    const now = await status(name);
    return now.detail === 'quarantined' && now;
  });

describe('a server that crashes after a good handshake, for ever', () => {
  it('P9 US5.2: is restarted max_restarts times, then quarantined; reset starts it', async () => {
    const entry = server('one', 'crashes-when-ready.mjs', { args: ['./lives'], max_restarts: 3, ...QUICK });
    const herd = await startHerd(config([entry]));
    const lives = () => readFileSync(join(herd.home.folder, 'lives'), 'utf8').trim().split('\n');
    await herd.fleet.start({ servers: ['one'] });
    const quarantined = await inQuarantine(herd, 'one');
    expect(quarantined).toMatchObject({
      state: 'error',
      restarts: 3,
      incarnation: 4,
      next_retry_at: null,
      pids: [],
      last_error: { cause: 'exit', message: 'one: exited with code 9' },
    });
    expect(lives()).toHaveLength(4);
    measured('P9: with max_restarts 3: four incarnations, then quarantined');

    const { error } = await herd.fleet.call({ server: 'one', tool: 'pid' });
    expect(error).toMatchObject({
      type: 'ServerUnavailableError',
      sent: false,
      message: expect.stringMatching(
        /^one: is quarantined \(3 restarts in 60 s\); a call tries it again in \d\.\d s$/,
      ),
      why: 'one: exited with code 9',
      fix: 'see "toolherd logs one"; then: toolherd reset one',
    });
    expect(lives()).toHaveLength(4);

    writeFileSync(join(herd.home.folder, 'lives.mended'), '');
    const [reset] = await herd.fleet.reset({ servers: ['one'] }, true);
    expect(reset).toMatchObject({ state: 'connected', detail: 'running', incarnation: 5 });
    expect((await herd.fleet.call({ server: 'one', tool: 'pid' })).success).toBe(true);
  });

  it('P9: gets one more try by a start order, which does not clear its failures', async () => {
    const entry = server('one', 'crashes-when-ready.mjs', { args: ['./lives'], max_restarts: 1, ...QUICK });
    const herd = await startHerd(config([entry]));
    // a request for its tools does not wait for ever
    expect((await herd.fleet.tools('one')).tools).toEqual([]);
    expect(await inQuarantine(herd, 'one')).toMatchObject({ incarnation: 2 });
    await herd.fleet.start({ servers: ['one'] });
    const again = await until(async () => {
      const now = await herd.status('one');
      return now.detail === 'quarantined' && now.incarnation === 3 && now;
    });
    expect(again.restarts).toBe(1);
  });
});

describe('a server whose command is missing', () => {
  it('P10: is tried once by a call after the cool-down, and runs if its command is there by then', async () => {
    const herd = await startHerd(
      config([command('one', './late-command', [], { cwd: '.', backoff: { min: 0.1, max: 1 } })]),
    );
    const first = await herd.fleet.call({ server: 'one', tool: 'echo', arguments: { value: 'a' } });
    expect(first.error?.message).toContain('late-command');
    const file = join(herd.home.folder, 'late-command');
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${fixturePath('good.mjs')}'\n`, {
      mode: 0o755,
    });
    const served = await until(async () => {
      const result = await herd.fleet.call({ server: 'one', tool: 'echo', arguments: { value: 'b' } });
      return result.success && result;
    });
    expect(served.metadata.incarnation).toBe(2);
    expect(await herd.status('one')).toMatchObject({ detail: 'running', restarts: 0 });
  });

  it('P10 FR-021 US5.1: fails its call at once with the command and the PATH, and is not tried again', async () => {
    const herd = await startHerd(config([command('one', 'no-such-command', ['--x'])]));
    const began = performance.now();
    const { error } = await herd.fleet.call({ server: 'one', tool: 'any' });
    const tookMs = performance.now() - began;
    measured(`P10: error after ${millis(tookMs)}, one try`);
    expect(tookMs).toBeLessThan(500 + NOISE_MS);
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false, retryable: false });
    expect(error?.message).toContain("command 'no-such-command' was not found");
    expect(error?.message).toContain(`PATH is ${process.env.PATH}`);
    expect(error?.fix).toContain('no-such-command');
    expect(await herd.status('one')).toMatchObject({
      detail: 'quarantined',
      restarts: 0,
      incarnation: 1,
      next_retry_at: null,
      last_error: { cause: 'spawn' },
    });
    const { journal } = await herd.fleet.inspect('one');
    const last = journal.findLast(({ chart }) => chart === 'keeper');
    expect(last?.to).toBe('quarantined.holding');
    expect(last?.cause).toContain("'no-such-command'");
  });

  it('P10: includes a command that may not be executed, and a missing working folder', async () => {
    const herd = await startHerd(
      config([
        command('text', fixturePath('good.mjs'), []),
        server('nowhere', 'good.mjs', { cwd: '/no/such/folder' }),
        server('well', 'good.mjs'),
      ]),
    );
    const text = await herd.fleet.call({ server: 'text', tool: 'any' });
    expect(text.error?.message).toContain(`command '${fixturePath('good.mjs')}' may not be executed`);
    const nowhere = await herd.fleet.call({ server: 'nowhere', tool: 'any' });
    expect(nowhere.error?.message).toContain('its working folder /no/such/folder does not exist');
    for (const name of ['text', 'nowhere']) {
      expect(await herd.status(name)).toMatchObject({ detail: 'quarantined', restarts: 0 });
    }
    expect(await herd.say('well', 'echo', { value: 'still here' })).toBe('still here');
  });
});

describe('a server that never answers initialize', () => {
  it('P12: fails its call with MCPTimeoutError and is killed; repeated, it ends in quarantine', async () => {
    const entry = server('one', 'silent.mjs', { start_timeout: 1, max_restarts: 2, ...QUICK });
    const herd = await startHerd(config([entry]));
    const began = performance.now();
    const call = herd.fleet.call({ server: 'one', tool: 'any' });
    const [pid = 0] = await until(async () => {
      const { pids, incarnation } = await herd.status('one');
      return incarnation === 1 && pids.length > 0 && pids;
    });
    const { error } = await call;
    const tookMs = performance.now() - began;
    expect(error).toMatchObject({
      type: 'MCPTimeoutError',
      sent: false,
      message: expect.stringMatching(/^one: no initialize reply in 1 s \(command: .*silent.mjs\)$/),
      retryable: true,
    });
    measured(`P12: with a start_timeout of 1 s: MCPTimeoutError after ${millis(tookMs)}`);
    expect(tookMs).toBeGreaterThan(990);
    expect(tookMs).toBeLessThan(1000 + NOISE_MS);
    expect(isAlive(pid)).toBe(false);

    const quarantined = await inQuarantine(herd, 'one');
    expect(quarantined).toMatchObject({
      incarnation: 3,
      restarts: 2,
      pids: [],
      last_error: { cause: 'timeout' },
    });
    const later = await herd.fleet.call({ server: 'one', tool: 'any' });
    expect(later.error?.message).toContain('one: is quarantined (3 failed starts in a row)');
    const left = processesOf(herd.daemon.id).filter(({ words }) => words.includes('silent.mjs'));
    expect(left).toEqual([]);
  });

  it('P12: a server that also ignores TERM is killed', async () => {
    const deaf = "trap '' TERM; while :; do sleep 0.1; done";
    const entry = command('one', '/bin/sh', ['-c', deaf], {
      start_timeout: 0.4,
      restart: 'never',
      stop: { close: 0.2, term: 0.2 },
    });
    const herd = await startHerd(config([entry]));
    const { error } = await herd.fleet.call({ server: 'one', tool: 'any' });
    expect(error?.type).toBe('MCPTimeoutError');
    await until(() => processesOf(herd.daemon.id).every(({ words }) => words.includes('watchdog')));
    expect(existsSync(herd.home.socket)).toBe(true);
  });
});
