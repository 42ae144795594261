import { closeSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findSocketPath } from '../ipc/socket-path.js';
import { findPaths } from '../paths.js';
import { compileSooner } from './compile-sooner.js';
import { describeStartFailure, startDaemon } from './daemon.js';

/** The daemon's program. `toolherd up` runs it; it says once, on a pipe, whether it serves. */
const READY_PIPE = 3;

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: { config: { type: 'string' }, socket: { type: 'string' }, foreground: { type: 'boolean' } },
  });
  const isForeground = flags.foreground === true;
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
    paths,
    environment,
    userHome,
    echo: isForeground ? process.stdout : undefined,
  });
  compileSooner();
  // It must not keep the folder busy that it was started from.
  process.chdir('/');
  process.on('SIGHUP', () => void daemon.reload());
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130);
      isStopping = true;
      void daemon.stop();
    });
  }
  if (!isForeground) say({ ready: true, pid: process.pid, servers: daemon.servers });
  await daemon.ended;
}

/** To whoever started us: the pipe ends with this. */
function say(readiness: unknown): void {
  try {
    writeSync(READY_PIPE, JSON.stringify(readiness));
    closeSync(READY_PIPE);
  } catch {
    // nobody listens
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const failure = describeStartFailure(error);
    if (process.argv.includes('--foreground')) process.stderr.write(`error: ${failure.message}\n`);
    else say({ ready: false, error: failure });
    process.exit('problems' in failure ? 78 : 1);
  },
);
