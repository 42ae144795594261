import { randomBytes } from 'node:crypto';
import {
  close,
  closeSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

export interface ReplaceOptions {
  /**
   * When the text is on the disk: `before` the rename (a crash of the machine leaves the old text or the new one),
   * `soon` after it (a crash may leave an empty file), or whenever the system writes it (`later`, the default).
   */
  synced?: 'before' | 'soon' | 'later';
  /** Runs between writing the new text and replacing the old file. */
  beforeRename?(): void;
}

/**
 * Writes a state file of ours: a reader finds the old text or the new one, never half of it. The file has mode 0600, and
 * a missing folder is made with 0700. Throws the error of the file system, and leaves no temporary file. For files of
 * the user, which may be links or have other modes, see src/shared/files/write-user-file.ts.
 */
export function replaceFile(path: string, text: string, options: ReplaceOptions = {}): void {
  const { synced = 'later', beforeRename } = options;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    write(temporary, text, synced);
    beforeRename?.();
    renameSync(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

function write(path: string, text: string, synced: 'before' | 'soon' | 'later'): void {
  const file = openSync(path, 'wx', 0o600);
  let isClosing = false;
  try {
    writeFileSync(file, text);
    if (synced === 'before') fsyncSync(file);
    if (synced === 'soon') {
      isClosing = true;
      fsync(file, () => close(file, () => undefined));
    }
  } finally {
    if (!isClosing) closeSync(file);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // a folder that cannot be written does not allow removal either
  }
}
