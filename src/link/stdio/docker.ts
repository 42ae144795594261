import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { spawnShortage } from '../../processes/spawn-shortage.js';

/**
 * A container outlives its client when the client is killed. So the container gets the cookie as a label, and when the
 * client is gone every container with that label is removed.
 */
const LABEL = 'toolherd.cookie';
/** Options of docker itself whose value is the next word. */
const WITH_VALUE = new Set(
  '--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey'.split(' '),
);
const LIMIT_MS = 10_000;

/** The index of `run` in the arguments of `docker run` (or `docker container run`); -1 for any other command. */
export function dockerRunAt(command: string, args: readonly string[]): number {
  if (basename(command) !== 'docker') return -1;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === 'run') return at;
    if (WITH_VALUE.has(word)) at += 1;
    else if (!word.startsWith('-') && word !== 'container') return -1;
  }
  return -1;
}

/** The arguments with the label, and with the names of variables that the client passes on from its environment. */
export function labelledArgs(
  args: readonly string[],
  runAt: number,
  cookie: string,
  names: readonly string[],
): string[] {
  const passed = names.flatMap((name) => ['-e', name]);
  return [...args.slice(0, runAt + 1), '--label', `${LABEL}=${cookie}`, ...passed, ...args.slice(runAt + 1)];
}

/** Program and global options of the command, without the subcommand: to run another subcommand on the same daemon. */
export function dockerWords(command: string, args: readonly string[], runAt: number): string[] {
  return [command, ...args.slice(0, runAt).filter((word) => word !== 'container')];
}

/**
 * Removes the containers with this cookie. Resolves with the removed ids, or with undefined where docker failed; never
 * rejects.
 */
export async function removeContainers(
  words: readonly string[],
  cookie: string,
  env: Readonly<Record<string, string>>,
): Promise<string[] | undefined> {
  const [program, ...options] = words;
  if (program === undefined) return [];
  const ask = (...args: string[]) => stdoutOf(program, [...options, ...args], env);
  const found = await ask('ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${LABEL}=${cookie}`);
  if (found === undefined) return undefined;
  const ids = found.split(/\s+/).filter((id) => /^[0-9a-f]{12,64}$/.test(id));
  if (ids.length > 0 && (await ask('rm', '--force', ...ids)) === undefined) return undefined;
  return ids;
}

/** Loads no module late: when a container has to be removed, an upgrade may have removed the daemon's files. */
function stdoutOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 1_000_000 } as const;
  return new Promise((resolve) => {
    if (spawnShortage() !== undefined) return resolve(undefined);
    try {
      const done = (error: Error | null, stdout: string) => resolve(error === null ? stdout : undefined);
      const { stdin } = execFile(program, args, { env, ...limits }, done);
      stdin?.on('error', () => undefined);
      stdin?.end();
    } catch {
      resolve(undefined);
    }
  });
}
