import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The name under which a file is allowed: where it stands, not where a link leads. A file that is only linked to runs in
 * the folder of the link, so a project could otherwise borrow the permission of another one's file.
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
 * True for a file directly in the folder of the user's config.yaml, there or not yet. Folders in it do not count: with
 * TOOLHERD_HOME they are state, cache and run, where toolherd keeps what servers and clients send. A link does not count
 * either: what it leads to was put elsewhere.
 */
export function isUserOwnedFile(ownFolder: string, path: string): boolean {
  const place = trustedPath(path);
  try {
    if (dirname(place) !== realpathSync(ownFolder)) return false;
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true;
  } catch {
    return false;
  }
}
