import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findPaths } from '../shared/files/paths.js';

/**
 * Loads one bundle beside the command, with the machine code that the build recorded for it. A short command spends most of
 * its time in compilation: the cache saves 15 of 78 ms (docs/PERFORMANCE.md). V8 rejects a cache of another version; then the bundle
 * is loaded like any module, as in the package of npm, which has no caches. Not every version of V8 checks the processor architecture, so that is in the file name.
 */
export function loadBundle<T>(name: string, check: Check = (kept) => kept): T {
  const file = join(__dirname, `${name}.cjs`);
  const cache = `${file}.${process.arch}.cache`;
  if (!existsSync(cache)) {
    keepOwnCache();
    return require(file);
  }
  const { Script } = require('node:vm') as typeof import('node:vm');
  const source = readFileSync(file);
  const cachedData = check(readOrEmpty(cache), source);
  const script = cachedData && new Script(wrap(source.toString()), { filename: file, cachedData });
  if (script === undefined || script.cachedDataRejected === true) {
    keepOwnCache();
    return require(file);
  }
  const module = { exports: {} };
  script.runInThisContext().call(module.exports, module.exports, require, module, file, __dirname);
  return module.exports as T;
}

/** The machine code in a cache file; undefined if the file was not made for this source. */
export type Check = (kept: Buffer, source: Buffer) => Buffer | undefined;

/** V8 rejects an empty buffer like any invalid cache. */
function readOrEmpty(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * From 22.1 on Node can keep its own cache. In a folder of this user, because the default folder is shared by all users, who
 * could put code there that this user would run.
 */
function keepOwnCache(): void {
  const { enableCompileCache } = require('node:module') as {
    enableCompileCache?: (folder: string) => unknown;
  };
  try {
    enableCompileCache?.(join(findPaths(process.env, homedir()).cacheFolder, 'compiled'));
  } catch {
    // a user without a home folder has no cache
  }
}

/** Wraps the source as Node wraps a CommonJS module. The build records its caches from the same text. */
export function wrap(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}
