import { describe, expect, it } from 'vitest';
import { SILENCE_MS } from '../../../../src/link/protocol/negotiation/negotiation.js';
import { type Clock, systemClock } from '../../../../src/shared/clock.js';
import { FakeClock } from '../../fake-clock.js';
import { alive, errorOf, openLink, specOf } from '../../support.js';
import { remembering } from './remembering.js';

const SERVER_EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const CONTEXT7 = 'node_modules/@upstash/context7-mcp/dist/index.js';
const real = (path: string, ...args: string[]) =>
  specOf('', { name: 'real', args: [path, ...args], cwd: process.cwd() });

/** Six times as fast, for servers whose silence is not a matter of how fast they boot. */
const fast: Clock = { ...systemClock, setTimeout: (fire, ms) => systemClock.setTimeout(fire, ms / 6) };
/** Only silence is over sooner: a server that boots slowly is late for it after a moment already. */
const impatient: Clock = {
  ...systemClock,
  setTimeout: (fire, ms) => systemClock.setTimeout(fire, ms === SILENCE_MS ? 500 : ms),
};
const SLOW_MS = '700';

describe('a server whose era is unknown', () => {
  it('speaks 2026 when it answers server/discover (context7)', async () => {
    const era = remembering();
    const { opened, link } = openLink(real(CONTEXT7), { era });
    expect(await opened).toMatchObject({ protocolVersion: '2026-07-28', serverInfo: { name: 'Context7' } });
    expect((await link.list('tools/list')).map(({ name }) => name)).toContain('resolve-library-id');
    expect(era.told).toEqual(['keep mcp2026']);
  });

  it('speaks 2025 when it refuses server/discover (server-everything)', async () => {
    const era = remembering();
    const { opened, tool } = openLink(real(SERVER_EVERYTHING, 'stdio'), { era });
    expect(await opened).toMatchObject({ protocolVersion: '2025-11-25' });
    expect(await tool('echo', { message: 'hi' })).toContain('hi');
    expect(era.told).toEqual(['keep mcp2025']);
  });

  it('speaks 2025 when its answer is invalid', async () => {
    const { opened } = openLink(specOf('discovers.mjs', {}, ['shape']));
    expect(await opened).toMatchObject({ serverInfo: { name: 'mini' } });
  });

  it('that exits on server/discover is started again at once, with initialize; the first exit is not reported', async () => {
    const era = remembering();
    const { opened, tool, endings, link, table, logged } = openLink(specOf('dies-of-probe.mjs'), { era });
    const [first] = link.pids;
    const waiting = tool('pid');
    await opened;
    const pid = Number(await waiting);
    expect([link.pids, table.size, alive(Number(first))]).toEqual([[pid], 1, false]);
    expect(pid).not.toBe(first);
    expect(await tool('heard')).toBe('notifications/initialized');
    expect([endings, era.told]).toEqual([[], ['presume mcp2025', 'keep mcp2025']]);
    await logged(/started again/);
  });

  it('that is started again has a whole start_timeout again', async () => {
    const startTimeoutMs = 19_999;
    const startTime = new FakeClock();
    // every other timer is a real one
    const clock: Clock = {
      now: systemClock.now,
      setTimeout: (fire, ms) => (ms === startTimeoutMs ? startTime : systemClock).setTimeout(fire, ms),
      clearTimeout: (timer) => (typeof timer === 'number' ? startTime : systemClock).clearTimeout(timer),
    };
    const { opened, logged } = openLink(specOf('dies-of-probe.mjs', { startTimeoutMs }), { clock });
    startTime.advance(startTimeoutMs - 1);
    await logged(/started again/);
    startTime.advance(startTimeoutMs - 1);
    expect(startTime.pending).toBe(1);
    await opened;
    expect(startTime.pending).toBe(0);
  });

  it('that exits again is reported once, with its real cause', async () => {
    const { ended, endings, table } = openLink(specOf('exits-at-start.mjs'));
    expect(await ended).toMatchObject({ cause: 'exit', code: 3 });
    expect([endings.length, table.size]).toEqual([1, 0]);
  });

  it('a server that ends with another cause than the probe is not started again; the next time it gets initialize', async () => {
    const era = remembering();
    const first = openLink(specOf('needs-key.mjs'), { era });
    expect(await first.ended).toMatchObject({ cause: 'exit', code: 1 });
    expect(first.logs.map(({ text }) => text).join()).not.toContain('started again');
    expect(era.told).toEqual(['presume mcp2025']);
    const next = openLink(specOf('dies-of-probe.mjs'), { era });
    const [pid] = next.link.pids;
    await next.opened;
    expect(next.link.pids).toEqual([pid]);
  });

  it('that is stopped between its two processes is not started again', async () => {
    const { link, ended, endings, table } = openLink(specOf('dies-of-probe.mjs'));
    process.kill(Number(link.pids[0]), 'SIGKILL');
    link.close('kill');
    expect(await ended).toMatchObject({ kind: 'disconnected', reason: 'stopped' });
    expect([endings.length, table.size]).toEqual([1, 0]);
  });

  it('that ignores server/discover gets initialize as well, and speaks 2025', async () => {
    const era = remembering();
    const startedAt = performance.now();
    const { opened, tool } = openLink(specOf('ignores-probe.mjs'), { era, clock: fast });
    expect(await opened).toMatchObject({ serverInfo: { name: 'mini' } });
    expect(performance.now() - startedAt).toBeLessThan(SILENCE_MS + 3000);
    expect(await tool('echo', { value: 'x' })).toBe('x');
    expect(era.told).toEqual(['keep mcp2025']);
  });

  it('that starts slowly is waited for: 2025', async () => {
    const { opened, tool } = openLink(specOf('boots-slowly.mjs', {}, [SLOW_MS]), { clock: impatient });
    await opened;
    expect(await tool('echo', { value: 'late' })).toBe('late');
  });

  it('that starts slowly is waited for: 2026 only', async () => {
    const era = remembering();
    const { opened, tool } = openLink(specOf('modern.mjs', {}, ['only', SLOW_MS]), {
      era,
      clock: impatient,
    });
    expect(await opened).toMatchObject({ protocolVersion: '2026-07-28' });
    expect(await tool('echo', { value: 'late' })).toBe('late');
    expect(era.told).toEqual(['keep mcp2026']);
  });

  it('that starts slowly and answers both follows the last, and is remembered as 2026', async () => {
    const era = remembering();
    const spec = specOf('modern.mjs', {}, [SLOW_MS]);
    const first = openLink(spec, { era, clock: impatient });
    expect(await first.opened).toMatchObject({ protocolVersion: '2025-11-25' });
    expect(await first.tool('echo', { value: 'old' })).toBe('old');
    const second = openLink(spec, { era, clock: impatient });
    expect(await second.opened).toMatchObject({ protocolVersion: '2026-07-28' });
    expect(era.told).toEqual(['keep mcp2026']);
  });

  it('that speaks only other versions is reported with them', async () => {
    const { ended } = openLink(specOf('discovers.mjs', {}, ['later']));
    expect(await ended).toMatchObject({
      cause: 'protocol',
      message: expect.stringContaining('it speaks 2027-01-01, toolherd speaks versions up to 2026-07-28'),
    });
  });

  it('that refuses initialize and ignores server/discover fails with its refusal, without its secret (X1)', async () => {
    const spec = specOf('discovers.mjs', { env: { API_TOKEN: 'sk-canary-123' } }, ['token']);
    expect(await openLink(spec, { clock: fast }).ended).toMatchObject({
      cause: 'protocol',
      message: expect.stringContaining('bad token [redacted:API_TOKEN]'),
    });
  });

  it('has its start_timeout for all of it (P12)', async () => {
    const { link, ended } = openLink(specOf('silent.mjs', { startTimeoutMs: 300 }));
    const call = errorOf(link.session.call('tools/list'));
    expect(await ended).toMatchObject({ cause: 'timeout' });
    expect(await call).toMatchObject({ type: 'MCPTimeoutError', sent: false });
  });
});

describe('a remembered era', () => {
  it('an era of 2025 saves the probe', async () => {
    const era = remembering('mcp2025');
    const { opened, link } = openLink(specOf('dies-of-probe.mjs'), { era });
    const [pid] = link.pids;
    await opened;
    expect([link.pids, era.told]).toEqual([[pid], []]);
  });

  it('an era of 2025 that is wrong is replaced, on the same connection', async () => {
    const era = remembering('mcp2025');
    const { opened, link, tool } = openLink(specOf('modern.mjs', {}, ['only']), { era });
    const [pid] = link.pids;
    expect(await opened).toMatchObject({ protocolVersion: '2026-07-28' });
    expect(await tool('pid')).toBe(String(pid));
    expect(era.told).toEqual(['keep mcp2026']);
  });

  it('an era of 2026 that is wrong is replaced, on the same connection', async () => {
    const era = remembering('mcp2026');
    const { opened, link, tool } = openLink(specOf('good.mjs'), { era });
    const [pid] = link.pids;
    await opened;
    expect(await tool('pid')).toBe(String(pid));
    expect(era.told).toEqual(['keep mcp2025']);
  });

  it('an era of 2026 waits for a slow server and sends no initialize', async () => {
    const era = remembering('mcp2026');
    const { opened } = openLink(specOf('modern.mjs', {}, [SLOW_MS]), { era, clock: impatient });
    expect(await opened).toMatchObject({ protocolVersion: '2026-07-28' });
    expect(era.told).toEqual([]);
  });

  it.each(['ignores-probe.mjs', 'dies-of-probe.mjs'])(
    'an era of modern that led nowhere is forgotten: %s',
    async (name) => {
      const era = remembering('mcp2026');
      const { ended } = openLink(specOf(name, { startTimeoutMs: 1500 }), { era });
      await ended;
      expect(era.told).toEqual(['forget']);
      expect(await openLink(specOf(name), { era, clock: fast }).opened).toMatchObject({
        serverInfo: { name: 'mini' },
      });
    },
  );
});
