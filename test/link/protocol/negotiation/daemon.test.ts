import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { startHerd, until } from '../../../support/herd.js';

it('the daemon speaks each era, remembers which, and a server that dies of the probe has not failed (FR-002)', async () => {
  const { fleet, home, say, status } = await startHerd(
    config([server('new', 'modern.mjs'), server('old', 'good.mjs'), server('shy', 'dies-of-probe.mjs')]),
  );
  expect(await say('new', 'echo', { value: 'a' })).toBe('a');
  expect(await say('old', 'echo', { value: 'b' })).toBe('b');
  expect(await say('shy', 'heard')).toBe('notifications/initialized');
  const { servers } = await fleet.status();
  expect(servers.map(({ name, protocol_version }) => [name, protocol_version])).toEqual([
    ['new', '2026-07-28'],
    ['old', '2025-11-25'],
    ['shy', '2025-11-25'],
  ]);
  expect(await status('shy')).toMatchObject({
    state: 'connected',
    restarts: 0,
    incarnation: 1,
    last_error: null,
  });
  const eras = await until(() => {
    try {
      const { verdicts } = JSON.parse(readFileSync(join(home.folder, 'cache', 'eras.json'), 'utf8'));
      const found = Object.values<{ era: string; at: string }>(verdicts);
      return found.length === 3 && found;
    } catch {
      return undefined;
    }
  });
  expect(eras.map(({ era }) => era).sort()).toEqual(['legacy', 'legacy', 'modern']);
  for (const { at } of eras) expect(Date.now() - Date.parse(at)).toBeLessThan(60_000);
});
