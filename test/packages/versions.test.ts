import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';
import { startRegistry } from '../support/npm-registry.js';
import { share } from '../support/share.js';
import { openStore } from './support.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const FILES = { 'x.js': '#!/usr/bin/env node\n' };
const WHY =
  'npm chose 1.0.0: a setting of npm (before, min-release-age) or the engines of 2.0.0 exclude 2.0.0';

/** A clock that keeps the checks of packages, and everything that waits as long, instead of doing them. */
function clockWithoutChecks() {
  const checks: (() => void)[] = [];
  const setTimeout = (fire: () => void, ms: number) =>
    ms === 2000 ? checks.push(fire) : systemClock.setTimeout(fire, ms);
  return { checks, clock: { ...systemClock, setTimeout } };
}

describe('the versions of a package', () => {
  const registry = share(() => startRegistry());
  const publish = (name: string, version: string, manifest = {}) =>
    registry().publish({ name, version, bin: 'x.js', files: FILES, manifest });

  it('a package that is not installed is not behind, and npm is not asked for it', async () => {
    publish('absent', '1.0.0');
    const store = openStore(registry());
    const asked = await store.packages.versions(store.entry(['-y', 'absent']));
    expect(asked).toEqual({
      versions: {
        ...{ server: 'one', package: 'absent', requested: 'absent', update: 'auto' },
        ...{ version: null, installed: null, latest: null, behind: false, refused: null },
      },
    });
    expect(registry().asked).not.toContain('absent');
  });

  it('entries with the same package ask npm once', async () => {
    publish('common', '1.0.0');
    const store = openStore(registry());
    const entries = ['one', 'two', 'three'].map((server) => store.entry(['-y', 'common'], { server }));
    for (const entry of entries) await store.launch(entry);
    const questions = () => registry().asked.filter((path) => path === 'common').length;
    const before = questions();
    await store.packages.versions(entries[0]!);
    const forOne = questions() - before;
    expect(forOne).toBeGreaterThan(0);
    const all = await Promise.all(entries.map((entry) => store.packages.versions(entry)));
    expect(all.map((one) => one?.versions.latest)).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    expect(questions() - before).toBe(2 * forOne);
  });

  it('a version that npm does not choose is tried once, and the reason is kept', async () => {
    publish('choosy', '1.0.0');
    const folder = makeFolder();
    const before = openStore(registry(), folder);
    const entry = before.entry(['-y', 'choosy']);
    await before.launch(entry);
    publish('choosy', '2.0.0', { engines: { node: '>=99' } });
    expect((await before.packages.versions(entry))?.versions).toMatchObject({ behind: true, refused: null });

    // as the next daemon, which finds that a newer version is known
    const { checks, clock } = clockWithoutChecks();
    const store = openStore(registry(), folder, { updateCheckMs: DAY_MS }, clock);
    await store.launch(entry);
    expect(checks).toHaveLength(1);
    expect(await store.packages.update(entry, '2.0.0')).toEqual({ version: '1.0.0', refused: WHY });
    expect((await store.packages.versions(entry))?.versions).toMatchObject({
      ...{ version: '1.0.0', latest: '2.0.0', behind: true, refused: WHY },
    });

    const later = openStore(registry(), folder, { updateCheckMs: DAY_MS }, clock);
    await later.launch(entry);
    expect(checks).toHaveLength(1);
    // a newer one still is tried at once
    publish('choosy', '3.0.0');
    expect((await later.packages.versions(entry))?.versions).toMatchObject({
      latest: '3.0.0',
      refused: null,
    });
    await later.launch(entry);
    expect(checks).toHaveLength(2);
  });

  it('npm is asked at most once in update_check, and never with 0 or for an exact version', async () => {
    publish('checked', '1.0.0');
    const { checks, clock } = clockWithoutChecks();
    let date = Date.now();
    const folder = makeFolder();
    const storeFor = (updateCheckMs: number) =>
      openStore(registry(), folder, { updateCheckMs }, { ...clock, date: () => date });
    const [store, never] = [storeFor(DAY_MS), storeFor(0)];
    const [entry, exact] = ['checked', 'checked@1.0.0'].map((one) => store.entry(['-y', one]));
    for (const one of [entry!, exact!]) await store.launch(one);
    date += DAY_MS - 1;
    await store.launch(entry!);
    expect(checks).toHaveLength(0);
    date += 1;
    await never.launch(entry!);
    await store.launch(exact!);
    expect(checks).toHaveLength(0);
    await store.launch(entry!);
    await store.launch(entry!);
    expect(checks).toHaveLength(1);
  });

  it('a check says in the journal why npm did not install a version', async () => {
    publish('strict', '1.0.0');
    const { checks, clock } = clockWithoutChecks();
    const store = openStore(registry(), makeFolder(), { updateCheckMs: 1 }, clock);
    const entry = store.entry(['-y', 'strict@latest'], {}, { npm_config_engine_strict: 'true' });
    await store.launch(entry);
    publish('strict', '2.0.0', { engines: { node: '>=99' } });
    await store.launch(entry);
    checks.at(-1)!();
    await expect
      .poll(() => store.notes.at(-1), { timeout: 30_000 })
      .toBe(
        'strict 2.0.0 is not used: strict@latest could not be installed: npm exited with code 1 (EBADENGINE)',
      );
    expect((await store.packages.versions(entry))?.versions.refused).toMatch(/EBADENGINE/);
  });
});
