import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { command, config, fixturePath, server } from './config.js';
import { measured, millis } from './measured.js';

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('fifty servers in a crash loop', () => {
  it('P11 SC-006: start at most max_starting at a time, and other servers answer meanwhile', async () => {
    const most = 3;
    // the longest backoff is the pause before a quarantined server is tried again: none is tried during this test
    const policy = { start: 'eager', max_restarts: 2, backoff: { min: 0.2, max: 90 } };
    const failing = many(50, 'bad').map((name) =>
      command(name, '/bin/sh', [fixturePath('crowd.sh'), './crowd', './counts'], policy),
    );
    const well = server('well', 'good.mjs');
    const { home, fleet, daemon, status } = await startHerd(config([well], { max_starting: most }));
    expect((await fleet.call({ server: 'well', tool: 'pid' })).success).toBe(true);
    mkdirSync(join(home.folder, 'crowd'));
    home.configure(config([well, ...failing], { max_starting: most }));
    await fleet.reload();

    const waits: number[] = [];
    await until(async () => {
      const began = performance.now();
      const { success, content } = await fleet.call({
        server: 'well',
        tool: 'echo',
        arguments: { value: 'well' },
      });
      waits.push(performance.now() - began);
      expect({ success, content }).toEqual({ success: true, content: [{ type: 'text', text: 'well' }] });
      const { servers } = await fleet.status();
      return servers.every(({ name, detail }) => name === 'well' || detail === 'quarantined');
    }, 60_000);

    const counts = readFileSync(join(home.folder, 'counts'), 'utf8').trim().split('\n').map(Number);
    // three starts each, and one more: an unknown server may have died of the probe for its era
    expect(counts).toHaveLength(50 * 4);
    expect(Math.max(...counts)).toBeLessThanOrEqual(most);
    expect(Math.max(...counts)).toBeGreaterThan(1);
    const sorted = waits.toSorted((a, b) => a - b);
    measured(
      `P11: at most ${Math.max(...counts)} of 50 started at once; ${waits.length} calls of healthy servers meanwhile: ${millis(sorted[sorted.length >> 1] ?? 0)} (median), ${millis(sorted.at(-1) ?? 0)} (worst)`,
    );
    expect(waits.length).toBeGreaterThan(10);
    expect(waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(100 + NOISE_MS / 10);
    expect(waits.at(-1)).toBeLessThan(1500 + NOISE_MS);
    expect(await status('well')).toMatchObject({ incarnation: 1, failures: 0 });
    expect(isAlive(daemon.pid)).toBe(true);
  }, 90_000);
});

describe('a server that exits before the first write', () => {
  it('P13: two hundred times, is an ending and never an exception', async () => {
    // twenty are started in one go, so the first are dead when their first line is written
    const names = many(20, 'gone');
    const entries = names.map((name) => command(name, '/bin/false', [], { max_restarts: 0 }));
    const { fleet, daemon, status } = await startHerd(config(entries, { max_starting: 1000 }));
    for (let round = 1; round <= 10; round += 1) {
      const servers = await fleet[round === 1 ? 'start' : 'reset']({ all: true }, true);
      for (const one of servers) expect(one).toMatchObject({ detail: 'quarantined', incarnation: round });
    }
    measured(`P13: ${names.length * 10} processes ended before their first line, no exception`);
    expect(isAlive(daemon.pid)).toBe(true);
    expect((await fleet.status()).daemon.pid).toBe(daemon.pid);
    expect((await status('gone-7')).last_error?.message).toBe(
      'gone-7: exited with code 1 before it had answered initialize (command: /bin/false)',
    );
  });

  it('P13: a server that closes its stdin fails a call with a typed error, and is restarted', async () => {
    const { fleet, daemon, say } = await startHerd(
      config([server('one', 'closes-pipe.mjs', { ping: { interval: 0.1, timeout: 5 } })]),
    );
    expect(await say('one', 'stdin')).toBe('closed');
    const { error } = await fleet.call({ server: 'one', tool: 'stdin' });
    // sent, refused, or still waiting when it is given up: whichever comes first
    expect(error?.type).toMatch(/^(ServerCrashed|ServerUnavailable|MCPConnection)Error$/);
    expect(await say('one', 'stdin')).toBe('closed');
    expect(isAlive(daemon.pid)).toBe(true);
  });
});
