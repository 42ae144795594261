// Builds dist/: the command and the daemon as bundles (they start fast), the library unbundled from its dependencies.
// Usage: node scripts/build.mjs [FOLDER]   (default: dist)
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
const out = process.argv[2] ?? 'dist';
rmSync(out, { recursive: true, force: true });

const common = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  splitting: true,
  logLevel: 'warning',
};

await Promise.all([
  build({
    ...common,
    entryPoints: { main: 'src/main.ts' },
    outdir: join(out, 'bin'),
    minify: true,
    mainFields: ['module', 'main'],
    // yaml's build for browsers is ESM: what is not used is left out, and it loads twice as fast.
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    // Some dependencies are CommonJS and call require for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  }),
  build({ ...common, entryPoints: { index: 'src/index.ts' }, outdir: out, packages: 'external' }),
]);
