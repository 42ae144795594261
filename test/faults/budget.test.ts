import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { type Herd, isAlive, startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';

const MIB = 2 ** 20;
/** More than Node needs for itself, less than it has eaten after a meal. */
const MAX = 200;
const MEAL = 300;
/** Its calls never end without the budget: a failing test should not wait for a minute. */
const FRUGAL = { max_rss: MAX * MIB, backoff: { min: 0.02, max: 0.05 }, request_timeout: 15 };
const OVER = /^one: over its memory budget: its processes used (\d+(\.\d)?) MiB, and max_rss allows 200 MiB$/;

const logOf = ({ home }: Herd, name: string) =>
  readFile(join(home.folder, 'state', 'logs', `${name}.log`), 'utf8');

describe('a server over its max_rss', () => {
  it('is ended at once and restarted; its call fails with the reason and sent: true', async () => {
    const herd = await startHerd(config([server('one', 'hungry.mjs', FRUGAL)]));
    const { say, fleet, status } = herd;
    const pid = Number(await say('one', 'pid'));
    const causes: string[] = [];
    fleet.subscribe(['state', 'log'], (event) => {
      causes.push(event.topic === 'state' ? event.cause : event.topic === 'log' ? event.message : '');
    });
    const { error } = await fleet.call({ server: 'one', tool: 'gorge', arguments: { mb: MEAL } });
    expect(error).toMatchObject({ type: 'ServerCrashedError', sent: true, retryable: false });
    expect(error?.message).toMatch(OVER);
    expect(Number(OVER.exec(error?.message ?? '')?.[1])).toBeGreaterThan(MAX);
    expect(error?.fix).toContain('raise max_rss of one');

    const again = await until(async () => {
      const now = await status('one');
      return now.state === 'connected' && now.incarnation === 2 && now;
    });
    expect(isAlive(pid)).toBe(false);
    expect(again).toMatchObject({ restarts: 1, detail: 'running', last_error: { cause: 'memory' } });
    expect(again.last_error?.message).toMatch(OVER);
    expect(again.rss_bytes).toBeLessThan(MAX * MIB);
    expect(await say('one', 'pid')).toBe(String(again.pids[0]));
    const { journal } = await fleet.inspect('one');
    expect(journal.find(({ to }) => to === 'connected.closing.asking')?.cause).toMatch(OVER);
    expect(causes.filter((cause) => OVER.test(cause)).length).toBeGreaterThan(1);
    expect(await logOf(herd, 'servers/one')).toContain('over its memory budget');
  });

  it('is measured with its helpers, each replica separately', async () => {
    const entry = server('one', 'hungry.mjs', { ...FRUGAL, replicas: 2 });
    const { say, fleet, status } = await startHerd(config([entry]));
    await fleet.start({ servers: ['one'] }, true);
    const { pids } = await status('one');
    const { error } = await fleet.call({ server: 'one', tool: 'feed', arguments: { mb: MEAL } });
    expect(error?.message).toMatch(OVER);
    const after = await until(async () => {
      const now = await status('one');
      return now.restarts === 1 && now.pids.length === 2 && now.state === 'connected' && now;
    });
    // the other replica was not restarted
    expect(after.pids.filter((pid) => pids.includes(pid))).toHaveLength(1);
    expect(after.incarnation).toBe(2);
    expect(await say('one', 'pid')).toMatch(/^\d+$/);
  });

  it('a server that is over its limit again and again is quarantined with that reason', async () => {
    const entry = server('one', 'hungry.mjs', {
      ...FRUGAL,
      args: ['--always', String(MEAL)],
      max_restarts: 1,
    });
    const { fleet, status } = await startHerd(config([entry]));
    await fleet.start({ servers: ['one'] });
    const quarantined = await until(async () => {
      const now = await status('one');
      return now.detail === 'quarantined' && now;
    });
    expect(quarantined).toMatchObject({ restarts: 1, pids: [], last_error: { cause: 'memory' } });
    const { error } = await fleet.call({ server: 'one', tool: 'pid' });
    expect(error).toMatchObject({
      type: 'ServerUnavailableError',
      sent: false,
      message: expect.stringMatching(
        /^one: is quarantined \((1 restart in 60 s|2 failed starts in a row)\); a call tries it again in /,
      ),
    });
    expect(error?.why).toMatch(OVER);
  });

  it('that is transient fails its call, and the next call gets another process', async () => {
    const entry = server('one', 'hungry.mjs', { ...FRUGAL, lifecycle: 'transient' });
    const { say, fleet } = await startHerd(config([entry]));
    const { error } = await fleet.call({ server: 'one', tool: 'gorge', arguments: { mb: MEAL } });
    expect(error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    expect(error?.message).toMatch(OVER);
    expect(await say('one', 'pid')).toMatch(/^\d+$/);
  });
});

describe('a herd over daemon.max_rss', () => {
  it('stops the server that was unused for longest, never a busy one; the next call restarts it', async () => {
    const names = ['first', 'second', 'busy'];
    const entries = names.map((name) => server(name, 'hungry.mjs'));
    const herd = await startHerd(config(entries, { max_rss: 500 * MIB }));
    const { say, fleet, status } = herd;
    for (const name of names) await say(name, 'eat', { mb: 150 });
    const [pid] = (await status('busy')).pids;
    const waiting = [fleet.call({ server: 'busy', tool: 'wait' })];
    const first = await until(async () => {
      const now = await status('first');
      return now.pids.length === 0 && now.detail === 'idle' && now;
    });
    expect(first).toMatchObject({ state: 'disconnected', restarts: 0, last_error: null });
    const { journal } = await fleet.inspect('first');
    expect(journal.find(({ to }) => to === 'connected.closing.asking')?.cause).toMatch(
      /^stopped to free memory, because it was idle: the herd uses [\d.]+ MiB, more than the 500 MiB of daemon\.max_rss$/,
    );
    expect(await logOf(herd, 'servers/first')).toContain('stopped to free memory');
    expect((await status('second')).detail).toBe('running');

    // a call starts it again; then the other server is stopped
    expect(await say('first', 'eat', { mb: 150 })).toBe('1');
    expect(await status('first')).toMatchObject({ incarnation: 2, restarts: 0 });
    await until(async () => (await status('second')).detail === 'idle');
    expect(await status('busy')).toMatchObject({ pids: [pid], incarnation: 1, in_flight: 1 });

    // no idle server is left: the status has the problem
    waiting.push(fleet.call({ server: 'first', tool: 'wait' }));
    const problem = /more than the 300 MiB of daemon\.max_rss, and no server is idle that could be stopped$/;
    herd.home.configure(config(entries, { max_rss: 300 * MIB }));
    await fleet.reload();
    const { memory } = await until(async () => {
      const { daemon } = await fleet.status();
      return daemon.memory?.problem !== null && daemon;
    });
    expect(memory?.problem).toMatch(problem);
    expect(memory?.rss_bytes).toBeGreaterThan(300 * MIB);
    expect(await logOf(herd, 'daemon')).toContain('no server is idle that could be stopped');
    const place = { cwd: herd.home.folder, env: herd.home.environment };
    const { stdout: doctor } = await toolherd(['doctor'], place);
    expect(doctor).toMatch(/^warn +memory +the herd uses .*\n +fix: raise daemon\.max_rss/m);
    const { stdout: why } = await toolherd(['why', 'second'], place);
    expect(why).toMatch(/^second is idle.*process 1 is asked to exit: stopped to free memory/s);
    herd.fleet.close();
    await Promise.allSettled(waiting);
  });
});
