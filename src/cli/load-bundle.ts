import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Loads one bundle that stands beside the command, with the machine code that the build kept for it. Most of a short
 * command's time is compilation: from the cache a verb starts in half the time. V8 itself refuses a cache that was
 * made by another version, and then the bundle is loaded like any module.
 */
export function loadBundle<T>(name: string): T {
  const file = join(__dirname, `${name}.cjs`);
  if (!existsSync(`${file}.cache`)) return require(file);
  const { Script } = require('node:vm') as typeof import('node:vm');
  const source = wrap(readFileSync(file, 'utf8'));
  const script = new Script(source, { filename: file, cachedData: readFileSync(`${file}.cache`) });
  if (script.cachedDataRejected === true) {
    // from 22.1 on Node can keep one of its own
    (require('node:module') as { enableCompileCache?: () => unknown }).enableCompileCache?.();
    return require(file);
  }
  const module = { exports: {} };
  script.runInThisContext().call(module.exports, module.exports, require, module, file, __dirname);
  return module.exports as T;
}

/** As Node wraps a CommonJS module. The build makes its caches from the same text. */
export function wrap(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}
