import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Packages that are loaded with a file, and those that it loads later, on demand. */
async function packagesOf(file: string) {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [file],
    ...{ bundle: true, splitting: true, write: false, metafile: true, logLevel: 'silent' },
    ...{ format: 'esm', platform: 'node', packages: 'external', outdir: 'out' },
  });
  const outputs = Object.entries(metafile.outputs);
  const [entry] = outputs.find(([, { entryPoint }]) => entryPoint === file) ?? [''];
  const atOnce = new Set<string>();
  const visit = (name: string) => {
    for (const { path, kind, external } of metafile.outputs[name]?.imports ?? []) {
      if (kind !== 'import-statement' || atOnce.has(path)) continue;
      atOnce.add(path);
      if (!external) visit(path);
    }
  };
  visit(entry);
  const all = outputs.flatMap(([, { imports }]) => imports.map(({ path }) => path));
  return { atOnce: [...atOnce], onDemand: all.filter((path) => !atOnce.has(path)) };
}

describe('the modules of remote servers', () => {
  it('are loaded when the first of them is opened, not before: stdio servers need no package but the SDK', async () => {
    const { atOnce, onDemand } = await packagesOf('src/link/open-link.ts');
    expect(atOnce).toContain('node:child_process');
    expect(
      atOnce.filter((path) => /^[\w@]/.test(path) && !path.startsWith('node:') && !path.startsWith('out/')),
    ).toEqual(['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/types.js']);
    expect(onDemand).toEqual(expect.arrayContaining(['ws', '@modelcontextprotocol/client']));
  });
});
