import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findPaths } from '../shared/paths.js';

/**
 * Loads one bundle that stands beside the command, with the machine code that the build kept for it. Most of a short
 * command's time is compilation: from the cache a verb starts in half the time. V8 itself refuses a cache that was
 * made by another version, and then the bundle is loaded like any module. Which machine it is for V8 does not look at
 * in every version: that is in the name.
 */
export function loadBundle<T>(name: string, check: Check = (kept) => kept): T {
  const file = join(__dirname, `${name}.cjs`);
  const cache = `${file}.${process.arch}.cache`;
  if (!existsSync(cache)) return require(file);
  const { Script } = require('node:vm') as typeof import('node:vm');
  const source = readFileSync(file);
  const cachedData = check(readOrNothing(cache), source);
  const script = cachedData && new Script(wrap(source.toString()), { filename: file, cachedData });
  if (script === undefined || script.cachedDataRejected === true) {
    keepOwnCache();
    return require(file);
  }
  const module = { exports: {} };
  script.runInThisContext().call(module.exports, module.exports, require, module, file, __dirname);
  return module.exports as T;
}

/** The machine code in what was kept; undefined where it is not what was written for this source. */
export type Check = (kept: Buffer, source: Buffer) => Buffer | undefined;

/** V8 refuses nothing like any other cache that is none. */
function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * From 22.1 on Node can keep one of its own: in a folder of this user. By itself it takes one that all users share, and
 * what somebody puts there is run.
 */
function keepOwnCache(): void {
  const { enableCompileCache } = require('node:module') as {
    enableCompileCache?: (folder: string) => unknown;
  };
  try {
    enableCompileCache?.(join(findPaths(process.env, homedir()).cacheFolder, 'compiled'));
  } catch {
    // a user without a home has no cache
  }
}

/** As Node wraps a CommonJS module. The build makes its caches from the same text. */
export function wrap(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}
