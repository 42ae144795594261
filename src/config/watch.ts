import { statSync, unwatchFile, watchFile } from 'node:fs';

/** Long enough for an editor to finish a write. */
const QUIET_MS = 200;
const POLL_MS = 300;

/**
 * Calls `changed` when a file has changed and stayed unchanged for QUIET_MS, so that a half-written file is not read.
 * It polls: that also works for files that are replaced or created later, and on file systems without notifications.
 * `since`: the stamp of the version that was read; a file that differs from it already counts as changed.
 */
export function watchConfig(path: string, changed: () => void, since = stampOf(path)): () => void {
  let timer: NodeJS.Timeout | undefined;
  const waitUntilQuiet = (before: string) => {
    timer = setTimeout(() => {
      const now = stampOf(path);
      if (now !== before) waitUntilQuiet(now);
      else changed();
    }, QUIET_MS);
    timer.unref();
  };
  const listener = () => {
    clearTimeout(timer);
    waitUntilQuiet(stampOf(path));
  };
  watchFile(path, { interval: POLL_MS, persistent: false }, listener);
  if (stampOf(path) !== since) listener();
  return () => {
    clearTimeout(timer);
    unwatchFile(path, listener);
  };
}

/** A stamp that differs between two versions of a file. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    // the file is gone, or a folder above it cannot be read: both count as absent
    return 'absent';
  }
}
