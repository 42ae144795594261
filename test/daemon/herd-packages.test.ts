import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/fields/settings.js';
import { HerdPackages } from '../../src/daemon/herd-packages.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';
import { specOf } from '../link/spec.js';
import { makeFolder } from '../support/folder.js';

it('how an entry runs is looked up again after a start, with other settings, and after ten seconds', async () => {
  const folder = makeFolder();
  let now = 0;
  let settings = defaultSettings();
  const clock = { ...systemClock, now: () => now };
  const packages = new HerdPackages({
    cacheFolder: join(folder, 'cache'),
    table: new ProcessTable({ daemonId: `test-${process.pid}`, clock }),
    clock,
    environment: { PATH: process.env.PATH, HOME: join(folder, 'home') },
    settings: () => settings,
    specs: () => [],
    redact: (_, text) => text,
    log: () => undefined,
  });
  const spec = specOf('one', { command: 'npx', args: ['-y', 'pkg'], cwd: folder });
  const runner = () => packages.runnerOf(spec)?.runner;
  expect(runner()).toBe('direct');
  writeFileSync(join(folder, '.npmrc'), '');
  expect(runner()).toBe('direct');
  packages.launch(spec, { note: () => undefined, stderr: () => undefined });
  expect(runner()).toBe(`plain: its folder ${folder} has settings of npm (.npmrc)`);
  rmSync(join(folder, '.npmrc'));
  expect(runner()).toContain('plain');
  now = 10_000;
  expect(runner()).toBe('direct');
  settings = { ...settings, daemon: { ...settings.daemon, runner: 'plain' } };
  expect(runner()).toBe("plain: the config says 'daemon.runner: plain'");
  await packages.close();
});
