import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, isCode, messageOf, ToolherdError } from '../errors.js';

/** The file-system calls of an edit; a test passes ones that fail. */
export type Disk = Pick<
  typeof nodeFs,
  'access' | 'lstat' | 'mkdir' | 'open' | 'readFile' | 'readlink' | 'realpath' | 'rename' | 'stat' | 'unlink'
>;

export interface WriteOptions {
  /** The content of the file when it was read, null for no file. When it differs now, nothing is written. */
  expected?: Uint8Array | null | undefined;
  disk?: Disk | undefined;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const PERMISSION_BITS = 0o7777;

/**
 * Replaces a file: a crash leaves the old text or the new one, never a part. The text goes to a temporary file beside
 * the target, which is synced and renamed over it. A symlink is followed, mode and owner stay, a new file is private.
 */
export async function writeFileAtomically(
  path: string,
  text: string,
  { expected, disk = nodeFs }: WriteOptions = {},
): Promise<void> {
  try {
    const target = await resolveSymlink(path, disk);
    const original = await statOf(target, disk);
    if (original === undefined) await disk.mkdir(dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
    else await assertReplaceable(path, target, original, disk);
    await replace(path, target, text, original, expected, disk);
  } catch (error) {
    if (error instanceof ToolherdError) throw error;
    throw writeFailed(path, error);
  }
}

async function replace(
  path: string,
  target: string,
  text: string,
  original: Stats | undefined,
  expected: Uint8Array | null | undefined,
  disk: Disk,
): Promise<void> {
  const temporary = join(dirname(target), `.toolherd-${randomBytes(8).toString('hex')}.tmp`);
  // Opened before anything changes, so that a failure here changes nothing.
  const folder = await disk.open(dirname(target), 'r');
  try {
    const file = await disk.open(temporary, 'wx', PRIVATE_FILE);
    try {
      try {
        await keepOwnerAndMode(file, original);
        await file.writeFile(text, 'utf8');
        await file.sync();
      } finally {
        await file.close();
      }
      // There is no lock against other programs, so a change between this check and the rename would be lost.
      if (expected !== undefined) await assertUnchanged(path, target, expected, disk);
      await disk.rename(temporary, target);
    } catch (error) {
      await disk.unlink(temporary).catch(() => undefined);
      throw error;
    }
    // The new text is in place. Without this sync a crash may bring the old text back, which is complete too.
    await folder.sync().catch(() => undefined);
  } finally {
    await folder.close().catch(() => undefined);
  }
}

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * Follows the links of a path. Dotfile managers link config files to a repository: the link stays and its target is
 * written, even one that does not exist yet.
 */
async function resolveSymlink(
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

/** With another owner the file could become readable to others, or unreadable to its owner. */
async function keepOwnerAndMode(file: nodeFs.FileHandle, original: Stats | undefined): Promise<void> {
  if (original === undefined) return;
  const own = await file.stat();
  if (own.uid !== original.uid || own.gid !== original.gid) await file.chown(original.uid, original.gid);
  // After chown, since chown clears the set-id bits.
  await file.chmod(original.mode & PERMISSION_BITS);
}

async function statOf(target: string, disk: Disk): Promise<Stats | undefined> {
  try {
    return await disk.stat(target);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** A rename ignores the mode of the file it replaces, so a read-only file is checked here. */
async function assertReplaceable(path: string, target: string, original: Stats, disk: Disk): Promise<void> {
  if (!original.isFile()) {
    throw new ToolherdError(`${path} cannot be written`, {
      why: 'It is not a regular file.',
      fix: 'Give the path of a file.',
    });
  }
  await disk.access(target, nodeFs.constants.W_OK);
}

async function assertUnchanged(
  path: string,
  target: string,
  expected: Uint8Array | null,
  disk: Disk,
): Promise<void> {
  const now = await disk.readFile(target).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (now === null ? expected === null : expected !== null && now.equals(expected)) return;
  throw new ToolherdError(`${path} was changed by another program meanwhile`, {
    why: 'Writing now would lose that change. Nothing was written.',
    fix: 'Run the command again.',
  });
}

export function writeFailed(path: string, cause: unknown): ToolherdError {
  const fixes: Record<string, string> = {
    ENOSPC: 'Free some space on the disk and run the command again.',
    EDQUOT: 'Free some of your disk quota and run the command again.',
    EROFS: 'The file system is read-only: change the file where it comes from.',
    EACCES: 'Make the file and its folder writable for you.',
    EPERM: 'Run the command as the owner of the file.',
  };
  const code = codeOf(cause) ?? '';
  return new ToolherdError(`${path} could not be written`, {
    why: `${messageOf(cause)}. The file is as it was.`,
    fix: fixes[code] ?? 'Check the path and run the command again.',
    cause,
  });
}
