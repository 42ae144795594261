// Writes the type declarations of the library beside the build, and only those that its exports lead to.
// Usage: node scripts/build/types.mjs [FOLDER]   (default: dist)
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '..', '..');
const out = resolve(process.argv[2] ?? join(root, 'dist'));
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

await execa(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.types.json', '--outDir', out], {
  cwd: root,
  stdio: 'inherit',
});

/** @type {Set<string>} */
const reached = new Set();
const IMPORT = /(?:from |import\()['"](\.[^'"]+)\.js['"]/g;

/** @param {string} file */
function follow(file) {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT))
    follow(resolve(dirname(file), `${path}.d.ts`));
}

for (const { types } of Object.values(exports))
  if (types) follow(join(out, types.replace(/^\.\/dist\//, '')));
for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.d.ts') && !reached.has(join(out, file))) rmSync(join(out, file));
}
