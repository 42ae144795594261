// What a run of the tests left on the machine: processes, listening sockets, folders. Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** Everything there is now that could be ours; compared with a later look it tells what was left in between. */
export function lookAround() {
  return new Set([...processes(), ...sockets(), ...folders()]);
}

/** @param {Set<string>} before */
export function leftSince(before) {
  return [...lookAround()].filter((one) => !before.has(one));
}

/** Of servers and watchdogs only those without a parent: those of another run beside this one have one. */
function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const words = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
      const isOurs =
        words.includes('toolherd-watchdog') || /(^|\0)TOOLHERD_COOKIE=/.test(read(`/proc/${pid}/environ`));
      const [state, parent] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
      return isOurs && state !== 'Z' && parent === '1' ? [`process ${pid} ${words.slice(0, 160)}`] : [];
    });
}

function sockets() {
  return read('/proc/net/unix')
    .split('\n')
    .map((line) => line.split(' ').at(-1) ?? '')
    .filter((path) => /toolherd/.test(path) && path.startsWith('/') && !isOfAnotherRun(path))
    .map((path) => `socket ${path}`);
}

function folders() {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('toolherd-') && !isOfAnotherRun(name))
    .map((name) => `folder ${name}`);
}

/** Its folders are named after the build it uses (test/support/leftovers.ts), which goes when it ends. */
function isOfAnotherRun(/** @type {string} */ name) {
  const [, run] = /toolherd-(\w{6})-/.exec(name) ?? [];
  return run !== undefined && existsSync(join(root, '.cache', `test-run-${run}`));
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
