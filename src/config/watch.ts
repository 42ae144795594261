import { statSync, unwatchFile, watchFile } from 'node:fs';

/** Long enough for an editor to finish writing. */
const QUIET_MS = 200;
const POLL_MS = 300;

/**
 * Tells when a file has changed and has been quiet since. It is looked at, not listened to: that also sees a file that
 * is replaced, created later, or lies on a file system without notifications. A file that is being written is let
 * alone until it rests, so that half of it is never read.
 */
export function watchConfig(path: string, changed: () => void): () => void {
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
  return () => {
    clearTimeout(timer);
    unwatchFile(path, listener);
  };
}

/** Tells two versions of a file apart. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    // it is gone, or a folder above it is closed to us: until it can be looked at again, one is as good as the other
    return 'absent';
  }
}
