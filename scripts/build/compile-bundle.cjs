// Compiles a bundle as src/bin/load-bundle.ts does, so that V8 accepts the code cache that is made from the result.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, dirname } = require('node:path');
const { Script } = require('node:vm');

/**
 * Must be the same text as in src/bin/load-bundle.ts: V8 rejects a cache of another source. test/bin/load-bundle.test.ts compares the two.
 * @param {string} source
 */
function wrap(source) {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

/**
 * @param {string} file
 * @returns the compiled script, and a function that runs it and returns what the bundle exports
 */
function compileBundle(file) {
  // V8 keeps the name in the cache: a path would be that of the machine that built it
  const script = new Script(wrap(readFileSync(file, 'utf8')), { filename: basename(file) });
  const run = () => {
    /** @type {{ exports: Record<string, any> }} */
    const bundle = { exports: {} };
    script
      .runInThisContext()
      .call(bundle.exports, bundle.exports, createRequire(file), bundle, file, dirname(file));
    return bundle.exports;
  };
  return { script, run };
}

/**
 * The name has the processor in it: not every version of V8 checks for which one its code is.
 * @param {string} file
 */
const cacheOf = (file) => `${file}.${process.arch}.cache`;

module.exports = { cacheOf, compileBundle, wrap };
