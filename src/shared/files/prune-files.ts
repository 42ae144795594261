import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Deletes files of servers that have not been configured for `afterMs`. */
export async function pruneFiles(
  folder: string,
  configured: ReadonlySet<string>,
  nowMs: number,
  afterMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  const names = await readdir(folder).catch(() => []);
  for (const file of names.map((name) => join(folder, name))) {
    if (configured.has(file)) await utimes(file, now, now).catch(() => undefined);
    else if (nowMs - (await writtenAt(file)) > afterMs)
      await rm(file, { force: true }).catch(() => undefined);
  }
}

async function writtenAt(file: string): Promise<number> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  return mtimeMs;
}
