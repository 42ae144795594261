// Runs a bundle as src/bin/load-bundle.ts does, and keeps what V8 compiled for it.
// Usage: node scripts/keep-compiled.cjs BUNDLE [ARGUMENTS…]
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

const [node, , file, ...args] = process.argv;
process.argv = [node, file, ...args];
const source = `(function (exports, require, module, __filename, __dirname) { ${readFileSync(file, 'utf8')}\n});`;
const script = new Script(source, { filename: file });
process.on('exit', () => writeFileSync(`${file}.${process.arch}.cache`, script.createCachedData()));
// V8 takes back only what it compiled under the same flags
require('node:v8').setFlagsFromString = () => undefined;
const module_ = { exports: {} };
script
  .runInThisContext()
  .call(module_.exports, module_.exports, createRequire(file), module_, file, dirname(file));
