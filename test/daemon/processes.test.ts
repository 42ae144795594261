import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openProcesses } from '../../src/daemon/processes.js';
import { startTimeOf } from '../../src/processes/process-identity.js';
import { systemClock } from '../../src/shared/clock.js';
import { newTable, stubbornGroup } from '../processes/stand-in.js';
import { makeFolder } from '../support/folder.js';
import { isAlive } from '../support/processes.js';

const open = (ledger: string) =>
  openProcesses(ledger, systemClock, { PATH: process.env.PATH }, () => undefined);

/** A ledger that lists one process, as the daemon with the pid `writer` writes it. */
async function writeLedger(path: string, writer: number, startTime = startTimeOf(writer)) {
  const table = newTable();
  const { exited, ...came } = await stubbornGroup(table);
  onTestFinished(() => table.killAll());
  const lines = [{ ledger: 1, daemonId: table.daemonId, pid: writer, startTime }, { came }];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { pid: came.pid, exited };
}

it('A daemon leaves the ledger of a living daemon with another socket, and has one beside it', async () => {
  const folder = makeFolder({});
  const ledger = join(folder, 'ledger');
  const other = await writeLedger(ledger, process.ppid);
  const before = readFileSync(ledger, 'utf8');
  const processes = await open(ledger);
  expect(readFileSync(ledger, 'utf8')).toBe(before);
  expect(isAlive(other.pid)).toBe(true);
  const own = join(folder, `ledger-${processes.table.daemonId}`);
  expect(readFileSync(own, 'utf8')).toContain(`"pid":${process.pid}`);
  await processes.close();
  expect(readdirSync(folder)).toEqual(['ledger']);
});

it('A daemon ends what every dead daemon of its state folder left, whatever the socket', async () => {
  const folder = makeFolder({});
  const ledger = join(folder, 'ledger');
  const left = [
    await writeLedger(ledger, 4194305, '1'),
    await writeLedger(`${ledger}-0123456789abcdef`, 4194305, '1'),
  ];
  const processes = await open(ledger);
  for (const { exited } of left) expect(await exited).toEqual([null, 'SIGKILL']);
  expect(existsSync(`${ledger}-0123456789abcdef`)).toBe(false);
  expect(readFileSync(ledger, 'utf8')).toContain(processes.table.daemonId);
  await processes.close();
});

it('Each of several daemons that start at once on one state folder has its ledger', async () => {
  const folder = makeFolder({});
  const ledger = join(folder, 'ledger');
  const all = await Promise.all([open(ledger), open(ledger), open(ledger)]);
  const found = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  for (const { table } of all) expect(found.filter((text) => text.includes(table.daemonId))).toHaveLength(1);
  await Promise.all(all.map((processes) => processes.close()));
  expect(readdirSync(folder)).toEqual([]);
});
