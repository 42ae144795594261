/**
 * Stands in for a daemon that may open few files. Starts servers until some fail, calls those that run, stops three,
 * and starts another in their place. Prints what became of it all.
 */

import type { Link } from '../../../src/link/link.js';
import { openStdio } from '../../../src/link/stdio/link.js';
import type { Ending } from '../../../src/machines/restart/ending.js';
import { ProcessTable } from '../../../src/processes/table.js';
import { systemClock } from '../../../src/shared/clock.js';
import { specOf } from '../spec.js';

const [, , fixtures = ''] = process.argv;
const table = new ProcessTable({ daemonId: `crowded-${process.pid}`, clock: systemClock });
const spec = specOf('good.mjs', { args: [`${fixtures}/good.mjs`], cwd: fixtures });
const deps = {
  table,
  clock: systemClock,
  env: process.env,
  clientInfo: { name: 'x', version: '0' },
  log: () => undefined,
  redact: (text: string) => text,
};

interface Start {
  link: Link;
  failed: Ending | undefined;
  ended: Promise<Ending>;
}

const start = () =>
  new Promise<Start>((resolve) => {
    let end: (ending: Ending) => void;
    const ended = new Promise<Ending>((take) => {
      end = take;
    });
    const link = openStdio(spec, deps, {
      opened: () => resolve({ link, ended, failed: undefined }),
      notification: () => undefined,
      ended: (ending) => {
        end(ending);
        resolve({ link, ended, failed: ending });
      },
    });
  });

const starts: Start[] = [];
for (let count = 0; count < 25; count += 1) starts.push(await start());
const running = starts.filter(({ failed }) => failed === undefined);
const echo = { name: 'echo', arguments: { value: 'x' } };
const answers = await Promise.all(running.map(({ link }) => link.session.call('tools/call', echo)));
// a start needs more files for a moment than a running server does
const stopping = running.slice(0, 3);
for (const { link } of stopping) link.close();
const [stopped] = await Promise.all(stopping.map(({ ended }) => ended));
const again = await start();
const failed = starts.flatMap((one) => one.failed ?? []);
await table.killAll();
process.stdout.write(
  JSON.stringify({ failed, answers: answers.length, stopped, again: again.failed ?? 'opened' }),
);
process.exit(0);
