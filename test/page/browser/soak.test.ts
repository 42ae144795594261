import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { LIMITS, type Soak } from '../../../bench/soak/report.mjs';
import { DIST } from '../../support/command.js';
import { makeFolder } from '../../support/folder.js';
import { ROOT } from '../../support/run.js';
import { describeInBrowser } from './browser.js';

const OPTIONS = { minutes: '0.15', window: '3', servers: '12' };

/** Latencies are not compared here: on a machine with other work they are those of that work. */
describeInBrowser('npm run bench:soak, in short', () => {
  it('a page stays live and small while servers are killed and events come fast', async () => {
    const file = join(makeFolder(), 'soak.json');
    const options = Object.entries({ ...OPTIONS, json: file }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    await execa(process.execPath, [join(ROOT, 'bench', 'soak', 'run.mjs'), ...options], {
      env: { TOOLHERD_BENCH_DIST: DIST },
      reject: false,
      timeout: 120_000,
    });
    const soak = JSON.parse(readFileSync(file, 'utf8')) as Soak;
    expect(soak.windows).toBe(3);
    expect(soak.kills).toBeGreaterThan(0);
    expect(soak.restarts).toBeGreaterThan(0);
    expect(soak.calls_per_s).toBeGreaterThan(LIMITS.calls / 2);
    expect(soak.events_per_s).toBeGreaterThan(0);
    expect(soak.tab_bytes.most).toBeLessThan(LIMITS.tabMb * 2 ** 20);
    expect(soak.p99_ms.with).toBeGreaterThan(0);
  }, 150_000);
});
