import { execFile, execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND, type Outcome } from './command.js';
import { makeFolder } from './folder.js';
import { type Herd, seenBy, startHerd } from './herd.js';

/** A herd whose whole home is on a small disk, which only the daemon's mount namespace can see. */
export interface HerdOnSmallDisk extends Herd {
  /** As the daemon sees it. */
  path(name: string): string;
  read(name: string): string;
  /** Leaves not a block. */
  fill(): void;
  free(): void;
  /** The command, on the same disk. */
  run(...args: string[]): Promise<Outcome>;
}

const FILLER = 'filler';

/** Why a disk cannot be mounted here; undefined where it can. */
export function whyNoDisk(): string | undefined {
  try {
    const script = 'mount -t tmpfs -o size=4k none /mnt';
    execFileSync('unshare', ['--mount', '/bin/sh', '-c', script], { stdio: ['ignore', 'ignore', 'pipe'] });
    return undefined;
  } catch (error) {
    return String((error as { stderr?: Buffer }).stderr ?? error).trim();
  }
}

export async function startOnSmallDisk(config: string, kibibytes: number): Promise<HerdOnSmallDisk> {
  // the socket stays outside, where every process can reach it
  const socket = join(makeFolder(), 'run', 'toolherd.sock');
  const mount = `mount -t tmpfs -o size=${kibibytes}k,mode=700 none "$HOME"`;
  const move = `text=$(cat config.yaml) && ${mount} && cd "$HOME" && printf "%s\\n" "$text" >config.yaml`;
  const herd = await startHerd(config, {
    environment: { TOOLHERD_SOCKET: socket },
    shell: `exec unshare --mount /bin/sh -c '${move} && exec "$@"' sh "$@"`,
  });
  const { home, daemon } = herd;
  const path = (name: string) => seenBy(daemon.pid, join(home.folder, name));
  return {
    ...herd,
    path,
    read: (name) => readFileSync(path(name), 'utf8'),
    fill: () => fillUp(path(FILLER)),
    free: () => rmSync(path(FILLER)),
    run: (...args) =>
      new Promise((resolve) => {
        const join = [
          '--target',
          String(daemon.pid),
          '--mount',
          '/bin/sh',
          '-c',
          'cd "$HOME" && exec "$@"',
          'sh',
        ];
        const words = [...join, process.execPath, COMMAND, ...args];
        execFile('nsenter', words, { env: home.environment }, (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      }),
  };
}

function fillUp(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (const block of [64 * 1024, 4096, 1].map((size) => Buffer.alloc(size))) writeUntilFull(file, block);
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    while (writeSync(file, block) === block.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
