import { execFile } from 'node:child_process';
import { spawnShortage } from '../../processes/spawn-shortage.js';

/**
 * A container outlives its client when the client is killed. So the container gets the cookie as a label, and when the
 * client is gone every container with that label is removed.
 */
const LABEL = 'toolherd.cookie';
const LIMIT_MS = 10_000;

/** The arguments with the label. The names of variables for the container are among them already (src/config). */
export function labelledArgs(args: readonly string[], runAt: number, cookie: string): string[] {
  return [...args.slice(0, runAt + 1), '--label', `${LABEL}=${cookie}`, ...args.slice(runAt + 1)];
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
