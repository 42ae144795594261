import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, killNow } from '../support/processes.js';
import { type HerdOnSmallDisk, startOnSmallDisk, whyNoDisk } from '../support/small-disk.js';
import { until } from '../support/until.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

/** Room for all that a small herd writes, until it is filled up. */
const DISK_KIB = 1024;
const POLICY = { backoff: { min: 0.02, max: 0.05 } };
const AGENT = 'tools:\n  - {name: x, description: d, type: mcp, server: s, command: npx, args: [x]}\n';
const TOLD = /could not be written\n {2}why: ENOSPC.*\n {2}fix: Free some space/;

const entries = [
  server('one', 'good.mjs', POLICY),
  server('two', 'good.mjs', POLICY),
  server('cut', 'good.mjs', { result_limit: 1000 }),
  server('loud', 'floods-stderr.mjs', { args: ['1'] }),
];
const HERD = config(entries, { log_max_bytes: 64 * 1024 });
const WITH_PORT = config(entries, { log_max_bytes: 64 * 1024, http: { listen: '127.0.0.1:0' } });

/** A mount needs root. Says why where it cannot be tried. */
const why = whyNoDisk();
if (why !== undefined)
  console.warn(`C4: no disk can be mounted here (${why}); only failing writes were tried`);

interface LedgerLine {
  ledger?: number;
  came?: { pid: number };
  went?: number;
}

/** The pids that a ledger leaves open; undefined when it has no header. A last line that is half written is no line. */
function pidsIn(ledger: string): number[] | undefined {
  const lines = ledger
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LedgerLine);
  if (lines[0]?.ledger !== 1) return undefined;
  const gone = new Set(lines.map(({ went }) => went));
  return lines.flatMap(({ came }) => (came === undefined || gone.has(came.pid) ? [] : [came.pid])).sort();
}

const running = async ({ fleet }: HerdOnSmallDisk) =>
  (await fleet.status()).servers.flatMap(({ pids }) => pids).sort();

describe('C4: on a disk that is full', () => {
  it('calls are served, servers start, crash and restart; with room again the ledger and the logs are complete', async () => {
    if (why !== undefined) return;
    const herd = await startOnSmallDisk(HERD, DISK_KIB);
    const { fleet, say, fill, free, read, status, daemon, path } = herd;
    const first = Number(await say('one', 'pid'));
    const ledgerBefore = read('state/ledger');
    fill();

    // nothing can be kept of any of this: ledger, catalogs, eras, logs, results
    const started = Number(await say('two', 'pid'));
    expect(await say('loud', 'echo', { value: 'drained' })).toBe('drained');
    killNow(first);
    const again = Number(await until(async () => /^\d+$/.exec(await say('one', 'pid'))?.[0]));
    expect(again).not.toBe(first);
    let served = 0;
    for (let round = 0; round < 200; round += 1)
      if ((await say('one', 'echo', { value: String(round) })) === String(round)) served += 1;
    expect(served).toBe(200);
    const { success, content } = await fleet.call({
      server: 'cut',
      tool: 'echo',
      arguments: { value: 'x'.repeat(50_000) },
    });
    expect(success).toBe(true);
    expect(JSON.stringify(content).length).toBeLessThan(2000);
    const results = path('state/results');
    expect(existsSync(results) ? readdirSync(results) : []).toEqual([]);

    // what was there is whole, or the old one
    const ledger = read('state/ledger');
    expect(pidsIn(ledger)).toBeDefined();
    expect(ledger.slice(0, ledgerBefore.indexOf('\n'))).toBe(ledgerBefore.split('\n')[0]);
    expect(readdirSync(path('state')).filter((name) => name.endsWith('.new'))).toEqual([]);
    for (const { name, detail } of (await fleet.status()).servers)
      expect([name, detail]).toEqual([name, 'running']);

    free();
    const [pid = 0] = (await status('two')).pids;
    expect(pid).toBe(started);
    killNow(pid);
    await until(async () => /^\d+$/.test(await say('two', 'pid')));
    expect(pidsIn(read('state/ledger'))).toEqual(await running(herd));
    await fleet.reload();
    const lines = read('state/logs/daemon.log').trimEnd().split('\n');
    // every line is complete; the line about the audit file may be before or after it
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('config applied');
    measured(
      `C4: ${served} of 200 calls were served on a full disk; the ledger was complete again after the next change`,
    );
    expect(isAlive(daemon.pid)).toBe(true);
  });

  it('config, trust and token keep their old content, the command says why, and everything works with room again', async () => {
    if (why !== undefined) return;
    const herd = await startOnSmallDisk(HERD, DISK_KIB);
    const { home, fleet, fill, free, read, run, path } = herd;
    writeFileSync(path('agent.yaml'), AGENT);
    expect(await run('allow', '--yes', 'agent.yaml')).toMatchObject({ status: 0 });
    writeFileSync(path('other.yaml'), AGENT);
    const trusted = read('state/trust.json');
    const before = read('config.yaml');
    fill();

    for (const words of [
      ['add', 'more', '-g', '--', 'npx', 'y'],
      ['remove', 'two', '-g'],
      ['allow', '--yes', 'other.yaml'],
      ['revoke', 'agent.yaml'],
    ]) {
      const { status, stderr } = await run(...words);
      expect([words[0], status, stderr]).toEqual([words[0], 1, expect.stringMatching(TOLD)]);
    }
    expect(read('config.yaml')).toBe(before);
    expect(read('state/trust.json')).toBe(trusted);
    expect(readdirSync(path('.')).filter((name) => name.endsWith('.tmp'))).toEqual([]);

    // the same blocks: that takes no room
    writeFileSync(path('config.yaml'), WITH_PORT, { flag: 'r+' });
    await fleet.reload();
    expect((await fleet.status()).daemon.http).toMatchObject({
      url: null,
      error: expect.stringContaining('ENOSPC'),
    });
    expect(existsSync(path('state/http-token'))).toBe(false);

    free();
    await fleet.reload();
    expect((await fleet.status()).daemon.http).toMatchObject({ error: null });
    expect(statSync(path('state/http-token')).size).toBeGreaterThan(32);
    expect(await run('add', 'more', '-g', '--', 'npx', 'y')).toMatchObject({ status: 0 });
    expect(read('config.yaml')).toContain('more');
    expect(await run('revoke', 'agent.yaml')).toMatchObject({ status: 0 });
    expect(existsSync(join(dirname(home.socket), 'toolherd.sock'))).toBe(true);
  });
});
