import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Long enough for an editor to finish a write. */
const QUIET_MS = 200;
const POLL_MS = 300;

/**
 * Calls `changed` when a file has changed and stayed unchanged for QUIET_MS, so that a half-written file is not read.
 * It polls: that also works for files that are replaced or created later, and on file systems without notifications.
 * `since`: the stamp of the version that was read. Node's `watchFile` compares with what it finds first, which is later:
 * it misses a change in between.
 */
export function watchConfig(path: string, changed: () => void, since = stampOf(path)): () => void {
  let known = since;
  let isChanging = false;
  let isWatched = true;
  let timer: NodeJS.Timeout;
  const look = async () => {
    const now = await stampLater(path);
    if (!isWatched) return;
    if (now !== known) {
      known = now;
      isChanging = true;
    } else if (isChanging) {
      isChanging = false;
      changed();
    }
    wait();
  };
  const wait = () => {
    timer = setTimeout(() => void look(), isChanging ? QUIET_MS : POLL_MS);
    timer.unref();
  };
  wait();
  return () => {
    isWatched = false;
    clearTimeout(timer);
  };
}

/** A stamp that differs between two versions of a file. */
export function stampOf(path: string): string {
  try {
    return toStamp(statSync(path));
  } catch {
    return ABSENT;
  }
}

async function stampLater(path: string): Promise<string> {
  try {
    return toStamp(await stat(path));
  } catch {
    return ABSENT;
  }
}

/** The file is gone, or a folder above it cannot be read. */
const ABSENT = 'absent';

function toStamp({ ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): string {
  return `${ino}:${size}:${mtimeMs}`;
}
