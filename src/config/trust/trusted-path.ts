import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The path that `allow` records: that of the file itself, not of the target of a link. A linked file runs in the folder
 * of the link, so a project could otherwise use the permission of another project's file.
 */
export function trustedPath(path: string): string {
  const full = resolve(path);
  try {
    return join(realpathSync(dirname(full)), basename(full));
  } catch {
    return full;
  }
}

/**
 * True for a file directly in the folder of the user's config.yaml, whether it exists or not. Subfolders do not count:
 * with TOOLHERD_HOME they are state, cache and run, which hold data from servers and clients. A link does not count
 * either: its target is in another folder.
 */
export function isUserOwnedFile(userFolder: string, path: string): boolean {
  const place = trustedPath(path);
  try {
    if (dirname(place) !== realpathSync(userFolder)) return false;
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true;
  } catch {
    return false;
  }
}
