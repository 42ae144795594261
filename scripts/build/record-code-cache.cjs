// Runs a bundle and, when the process exits, writes the code that V8 compiled meanwhile.
// Usage: node scripts/build/record-code-cache.cjs BUNDLE [ARGUMENTS…]
const { writeFileSync } = require('node:fs');
const v8 = require('node:v8');
const { cacheOf, compileBundle } = require('./compile-bundle.cjs');

const [node = '', , file = '', ...args] = process.argv;
process.argv = [node, file, ...args];
const { script, run } = compileBundle(file);
process.on('exit', () => writeFileSync(cacheOf(file), script.createCachedData()));
// V8 accepts a cache only under the flags with which it was made: the bundle may not change them here
v8.setFlagsFromString = () => undefined;
run();
