import { describe, expect, it } from 'vitest';
import type { Launch, LaunchEvents } from '../../../src/packages/entry.js';
import { PackageError } from '../../../src/packages/errors.js';
import { systemClock } from '../../../src/shared/clock.js';
import { openLink, specOf } from '../support.js';

/** A link whose launch comes when the test says so. */
function open(fields: Parameters<typeof specOf>[1] = {}) {
  const spec = specOf('good.mjs', fields);
  let come: (launch: Launch) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  let events: LaunchEvents | undefined;
  const notes: string[] = [];
  const timers: number[] = [];
  let cancels = 0;
  const coming = new Promise<Launch>((resolve, reject) => {
    come = resolve;
    fail = reject;
  });
  const opened = openLink(
    { ...spec, command: 'npx', args: ['-y', 'pkg'] },
    {
      launch: (_, on) => {
        events = on;
        const cancel = () => {
          cancels += 1;
        };
        return { coming, cancel };
      },
      note: (text) => notes.push(text),
      clock: {
        ...systemClock,
        setTimeout: (fire, ms) => {
          timers.push(ms);
          return systemClock.setTimeout(fire, ms);
        },
      },
    },
  );
  const launch: Launch = {
    command: spec.command,
    args: spec.args,
    path: ['/added/bin'],
    env: { ADDED: 'yes' },
  };
  const on = events as unknown as LaunchEvents;
  return { ...opened, launch, come, fail, on, notes, timers, cancels: () => cancels };
}

describe('a link whose package npm installs first', () => {
  it('start_timeout begins with the process, and calls wait for it', async () => {
    const { link, opened, come, launch, tool, on, notes, timers } = open({ startTimeoutMs: 54_321 });
    const pid = tool('pid');
    on.note('npm installs pkg');
    expect(link.pids).toEqual([]);
    expect(timers).not.toContain(54_321);
    come(launch);
    await opened;
    expect(timers).toContain(54_321);
    expect(link.pids).toEqual([Number(await pid)]);
    const env = JSON.parse(await tool('env')) as Record<string, string>;
    expect(env.ADDED).toBe('yes');
    expect(env.PATH).toMatch(/^\/added\/bin:./);
    expect(notes).toEqual(['npm installs pkg']);
  });

  it('a variable of the entry wins over one that the launch adds', async () => {
    const { opened, come, launch, tool } = open({ env: { ADDED: 'by the entry' } });
    come(launch);
    await opened;
    expect(JSON.parse(await tool('env'))).toMatchObject({ ADDED: 'by the entry' });
  });

  it('close ends the wait at once; what comes later starts nothing', async () => {
    const { link, ended, come, launch, tool, cancels, table } = open();
    const refused = tool('pid').catch((error: { sent?: boolean }) => error.sent);
    link.close();
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    expect([await refused, cancels()]).toEqual([false, 1]);
    come(launch);
    await Promise.resolve();
    expect([link.pids, table.size]).toEqual([[], 0]);
  });

  it('a failed installation ends it with the last lines of npm, their cause and a fix', async () => {
    const { ended, fail } = open();
    const output = 'npm error code EINTEGRITY\nnpm error sha512-a integrity checksum failed\n';
    fail(new PackageError('pkg could not be installed: npm exited with code 1', { output }));
    expect(await ended).toMatchObject({
      kind: 'error',
      cause: 'spawn',
      message: expect.stringContaining('pkg could not be installed: npm exited with code 1'),
      why: expect.stringMatching(/EINTEGRITY\); the last lines on stderr:\n.*integrity checksum failed/s),
      fix: expect.stringContaining('npm cache verify'),
    });
  });
});
