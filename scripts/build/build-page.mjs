// Builds the page of the dashboard: one script, one style sheet, one document, and each of them compressed.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { build } from 'esbuild';

const SOURCE = 'src/page';

/** @param {string} folder */
export async function buildPage(folder) {
  await build({
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    minify: true,
    logLevel: 'warning',
    entryPoints: [join(SOURCE, 'app.ts'), join(SOURCE, 'app.css')],
    outdir: folder,
  });
  copyFileSync(join(SOURCE, 'index.html'), join(folder, 'index.html'));
  for (const name of readdirSync(folder)) compress(join(folder, name));
}

/** @param {string} file */
function compress(file) {
  const bytes = readFileSync(file);
  const best = { params: { [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length } };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, best));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: zlib.Z_BEST_COMPRESSION }));
}
