import { dirname, resolve } from 'node:path';
import { isCode } from '../../shared/errors.js';
import type { Disk } from './disk.js';

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * The file behind a path. Dotfile managers link config files to a repository: the link stays, its target is written,
 * even one that does not exist yet.
 */
export async function resolveSymlink(
  path: string,
  disk: Pick<Disk, 'lstat' | 'readlink' | 'realpath'>,
): Promise<string> {
  let target = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    try {
      return await disk.realpath(target);
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error;
    }
    const link = await linkAt(target, disk);
    if (link === undefined) return target;
    target = resolve(dirname(target), link);
  }
  throw Object.assign(new Error(`too many symbolic links: ${path}`), { code: 'ELOOP' });
}

async function linkAt(path: string, disk: Pick<Disk, 'lstat' | 'readlink'>): Promise<string | undefined> {
  try {
    return (await disk.lstat(path)).isSymbolicLink() ? await disk.readlink(path) : undefined;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
