import { closeSync, openSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isatty, type WriteStream } from 'node:tty';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { Readiness, StartFailure } from '../fleet/readiness.js';
import { findSocketPath } from '../ipc/socket/socket-path.js';
import { LogEcho } from '../log/log-echo.js';
import { systemClock } from '../shared/clock.js';
import { findPaths } from '../shared/files/paths.js';
import { EXIT, exitStatusOf } from '../shared/report/exit-codes.js';
import { formatError } from '../shared/report/format-error.js';
import { printable } from '../shared/text/control-characters.js';
import { API_VERSION } from '../shared/version.js';
import { type Daemon, describeStartFailure, startDaemon } from './daemon.js';

/**
 * The program of the daemon. `toolherd up` runs it in the background, and it writes once to a pipe whether it serves.
 * `toolherd up --foreground` becomes this program.
 */
const READY_PIPE = 3;
/** Signals within this time count as one: a terminal and a supervisor may both signal the whole process group. */
const ONE_ORDER_MS = 1000;
/**
 * After so much work, in bytes of bytecode, V8 optimises a function. V8's default is eight times this. The
 * first thousand calls take 253 µs with this one and 342 with V8's (docs/PERFORMANCE.md); many daemons see no more calls.
 */
const INTERRUPT_BUDGET = 8000;
/** From this version of Node on, V8 has a fast baseline compiler, and not this flag. */
const FIRST_WITHOUT = 22;

/** The flag is set after the start: to optimise code of the start took a tenth of its time (20 servers, 2 cores). */
const START_MS = 1000;

const STANDARD = [0, 1, 2];
const terminals = STANDARD.filter((fd) => isatty(fd));

const { values: flags } = parseArgs({
  options: {
    config: { type: 'string' },
    socket: { type: 'string' },
    foreground: { type: 'boolean', default: false },
    /** Explains a failed start in JSON. */
    json: { type: 'boolean', default: false },
    replace: { type: 'boolean', default: false },
  },
});

/** For a process that lives long. */
function tuneV8(): void {
  if (Number.parseInt(process.versions.node, 10) >= FIRST_WITHOUT) return;
  setTimeout(() => setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`), START_MS).unref();
}

async function main(): Promise<void> {
  if (flags.foreground) withoutWaiting(process.stderr);
  const userHome = homedir();
  const paths = findPaths(process.env, userHome);
  const file = flags.config === undefined ? paths.configFile : resolve(flags.config);
  const socket = findSocketPath({
    flag: flags.socket,
    environment: process.env,
    stateFolder: paths.stateFolder,
  });
  const environment = { ...process.env };
  const daemon = await startDaemon({
    file,
    isRequired: flags.config !== undefined,
    socket,
    replace: flags.replace,
    paths,
    environment,
    userHome,
    reader: 'daemon',
    pageFolder: join(__dirname, '..', 'page'),
    echo: flags.foreground ? new LogEcho(withoutWaiting(process.stdout)) : undefined,
  });
  tuneV8();
  // so that the folder in which it was started can be unmounted
  process.chdir('/');
  obeySignals(daemon);
  if (!flags.foreground) reportReadiness({ ready: true, pid: process.pid, servers: daemon.servers });
  await daemon.ended;
}

/** The CLI exits on EPIPE and blocks while the terminal is stopped (Ctrl-S). The daemon must do neither. */
function withoutWaiting(stream: WriteStream): WriteStream {
  stream.removeAllListeners('error').on('error', () => undefined);
  const { _handle: handle } = stream as { _handle?: { setBlocking?(on: boolean): void } };
  if (stream.isTTY) handle?.setBlocking?.(false);
  return stream;
}

function obeySignals(daemon: Daemon): void {
  let orderedAt: number | undefined;
  const stop = (signal: string): void => {
    if (orderedAt === undefined) {
      orderedAt = systemClock.now();
      daemon.stop(signal);
    } else if (systemClock.now() - orderedAt > ONE_ORDER_MS) exit(EXIT.interrupted);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  process.on('SIGHUP', (signal) => {
    // SIGHUP means reload, unless the terminal was closed
    if (hasLostTerminal()) stop(signal);
    else void daemon.reload();
  });
}

/** isatty() is false for a terminal that was closed. */
function hasLostTerminal(): boolean {
  return terminals.some((fd) => !isatty(fd));
}

/** At exit Node resets the terminal, and aborts if it is gone. So its descriptors are set to /dev/null first. */
function exit(status: number): never {
  if (hasLostTerminal()) {
    for (const fd of STANDARD) {
      try {
        closeSync(fd);
      } catch {
        // it was closed already
      }
      // takes the lowest number that is free
      openSync('/dev/null', 'r+');
    }
  }
  process.exit(status);
}

/** Tells the command that started this process, and closes the pipe. */
function reportReadiness(readiness: Readiness): void {
  try {
    writeSync(READY_PIPE, JSON.stringify(readiness));
    closeSync(READY_PIPE);
  } catch {
    // the command is gone
  }
}

/** As the command reports every error. The message of a config error has all its problems already. */
function explain(failure: StartFailure): void {
  if (flags.json) {
    process.stdout.write(
      `${JSON.stringify({ api_version: API_VERSION, ok: false, error: failure }, null, 2)}\n`,
    );
    return;
  }
  const text = failure.problems === undefined ? formatError(failure) : failure.message;
  process.stderr.write(`${printable(text)}\n`);
}

main().then(
  () => exit(EXIT.ok),
  (error: unknown) => {
    const failure = describeStartFailure(error);
    if (flags.foreground) explain(failure);
    else reportReadiness({ ready: false, error: failure });
    exit(exitStatusOf(failure.type));
  },
);
