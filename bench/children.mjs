// Everything that is started is known here, and is ended: when its measurement is over, when one fails, on Ctrl-C.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set();
const folders = new Set();
const endings = new Set();
const ENDING_MS = 10_000;

// NODE_EXTRA_CA_CERTS adds 60 ms to every start of Node 20; none of these is part of what is measured.
const {
  NODE_EXTRA_CA_CERTS: _,
  NODE_OPTIONS: __,
  TOOLHERD_HOME: ___,
  TOOLHERD_SOCKET: ____,
  ...inherited
} = process.env;
export const environment = inherited;

function known(/** @type {import('node:child_process').ChildProcess} */ child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

export const start = (/** @type {string} */ command, /** @type {string[]} */ args, options = {}) =>
  known(spawn(command, args, { env: environment, ...options }));
export const startFork = (/** @type {string} */ file, /** @type {string[]} */ args = [], options = {}) =>
  known(fork(file, args, { env: environment, ...options }));

/** Asks a process to end, and insists when it does not. */
export async function end(
  /** @type {import('node:child_process').ChildProcess} */ child,
  /** @type {NodeJS.Signals} */ signal = 'SIGTERM',
) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDING_MS);
  await exited;
  clearTimeout(timer);
}

export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'toolherd-bench-'));
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  folders.add(folder);
  return folder;
}

export function removeFolder(/** @type {string} */ folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}

/** For a process that is not a child of this one: called at the end, unless the returned function was called before. */
export function onEnd(/** @type {() => Promise<void>} */ close) {
  endings.add(close);
  return () => endings.delete(close);
}

export async function endAll() {
  await Promise.all([...endings].map((close) => close().catch(() => {})));
  await Promise.all([...running].map((child) => end(child)));
  for (const folder of folders) removeFolder(folder);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    await endAll();
    process.exit(130);
  });
}
