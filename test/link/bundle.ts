import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

/** Makes a file that plain Node can run out of a TypeScript one, in a folder that is removed after the tests of this file. */
export async function bundle(entry: URL): Promise<{ file: string; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'entry.mjs');
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // some dependencies are CommonJS and call require for Node's own modules
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return { file, folder };
}
