/**
 * Stands in for a daemon that will be killed: a watchdog, a ledger, and some servers that ignore TERM. Bundled
 * and run by the tests beside it. Prints one line of JSON when everything is up, then waits.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStdio } from '../../src/link/stdio/link.js';
import { Ledger } from '../../src/processes/ledger.js';
import { ProcessTable } from '../../src/processes/table.js';
import { Watchdog } from '../../src/processes/watchdog.js';
import { systemClock } from '../../src/shared/clock.js';
import { specOf } from '../link/spec.js';

const [, , folder = '', fixtures = '', ...servers] = process.argv;
mkdirSync(folder, { recursive: true });
const table = new ProcessTable({ daemonId: `daemon-${process.pid}`, clock: systemClock });
const watchdog = new Watchdog({ table, clock: systemClock, log: () => undefined });
new Ledger(join(folder, 'ledger'), table, () => undefined);

const tell = async () => {
  const pids = table.list().map(({ pid }) => pid);
  process.stdout.write(`${JSON.stringify({ daemonId: table.daemonId, watchdog: watchdog.pid, pids })}\n`);
};
let opened = 0;
for (const server of servers) {
  openStdio(
    specOf(server, { args: [join(fixtures, server)], cwd: fixtures }),
    {
      table,
      clock: systemClock,
      env: process.env,
      clientInfo: { name: 'toolherd', version: '0' },
      log: () => undefined,
      redact: (text: string) => text,
    },
    {
      opened: () => {
        opened += 1;
        if (opened === servers.length) void tell();
      },
      notification: () => undefined,
      ended: () => undefined,
    },
  );
}
