import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../shared/clock.js';
import type { Owned } from './read-ledger.js';
import { spawnShortage } from './spawn-shortage.js';
import type { ProcessTable } from './table.js';

/**
 * A daemon that is killed with SIGKILL cannot stop its servers. So a small shell script reads from a pipe of the daemon
 * every group that comes (`+ 123`) and goes (`- 123`). When the pipe ends, the remaining groups get TERM and two seconds
 * later KILL; then the processes that left their group are killed by their cookie. Four seconds after the daemon's death
 * nothing may be left.
 *
 * It runs in its own session and ignores every signal that it can. If it is killed, the daemon starts another at once.
 * POSIX sh only: dash accepts no other form than `kill -s TERM -- -123`.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2 ALRM TSTP
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group"; done
tries=$2
while [ "$tries" -gt 0 ]; do
  left=
  for group in $groups; do kill -s 0 -- "-$group" && left=yes; done
  [ -z "$left" ] && break
  sleep 0.1
  tries=$((tries - 1))
done
for group in $groups; do kill -s KILL -- "-$group"; done
for file in $(grep -als "TOOLHERD_COOKIE=$1:" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}
  kill -s KILL "\${pid%/environ}"
done
`;

const GRACE_MS = 2000;
/** How long the script sleeps between two checks. */
const POLL_MS = 100;
/** A watchdog that lived shorter than this is restarted with a growing delay: something is wrong with the machine. */
const HEALTHY_MS = 1000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;

export interface WatchdogOptions {
  table: ProcessTable;
  clock: Clock;
  log(text: string): void;
  /** Time between TERM and KILL for groups that outlive the daemon. */
  graceMs?: number | undefined;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #stopObserving: () => void;
  #shell: ChildProcess | undefined;
  #delayMs = FIRST_DELAY_MS;
  #timer: unknown;
  #state: 'watching' | 'stopped' = 'watching';

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#stopObserving = options.table.observe({
      added: (owned) => this.#write('+', owned),
      removed: (owned) => this.#write('-', owned),
    });
    this.#start();
  }

  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** Closes its pipe: it kills what is still in the table. Resolves when it has exited. */
  stop(): Promise<void> {
    this.#state = 'stopped';
    this.#stopObserving();
    this.#options.clock.clearTimeout(this.#timer);
    const shell = this.#shell;
    if (shell === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      shell.once('exit', () => resolve());
      shell.ref();
      shell.stdin?.end();
    });
  }

  #start(): void {
    const { table, clock, graceMs = GRACE_MS } = this.#options;
    const startedAt = clock.now();
    let ended = false;
    const end = (why: string) => {
      if (ended) return;
      ended = true;
      this.#shell = undefined;
      if (this.#state === 'stopped') return;
      this.#options.log(`the watchdog ${why}; starting another`);
      this.#startAgain(clock.now() - startedAt);
    };
    const shell = startShell(table.daemonId, Math.ceil(graceMs / POLL_MS));
    if (shell instanceof Error) {
      end(`could not be started (${shell.message})`);
      return;
    }
    shell.once('exit', (code, signal) => end(`ended (${signal ?? code})`));
    shell.once('error', (error) => end(`could not be started (${error.message})`));
    shell.stdin?.on('error', () => undefined);
    if (shell.pid === undefined) return;
    this.#shell = shell;
    for (const owned of table.list()) this.#write('+', owned);
    // it must not keep the daemon's event loop alive
    shell.unref();
    if (shell.stdin !== null && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function')
      shell.stdin.unref();
  }

  #startAgain(livedMs: number): void {
    if (livedMs >= HEALTHY_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#timer = this.#options.clock.setTimeout(() => this.#start(), this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS);
  }

  #write(what: '+' | '-', owned: Owned): void {
    this.#shell?.stdin?.write(`${what} ${owned.pid}\n`);
  }
}

/** Node throws some errors and reports others as an event. */
function startShell(daemonId: string, polls: number): ChildProcess | Error {
  const shortage = spawnShortage();
  if (shortage !== undefined) return shortage;
  try {
    return spawn('/bin/sh', ['-c', SCRIPT, 'toolherd-watchdog', daemonId, String(polls)], {
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
