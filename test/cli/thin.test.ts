import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { COMMAND } from '../support/command.js';
import { startHerd } from '../support/herd.js';

const SRC = join(import.meta.dirname, '..', '..', 'src');
/** The modules of Node that take time to load and that neither command needs. */
const HEAVY = ['child_process', 'crypto', 'http', 'perf_hooks', 'readline', 'tls', 'timers/promises', 'zlib'];

/** Notes at the end what was loaded: files by their names, Node's own modules by theirs. */
const SPY = `const { writeFileSync } = require('node:fs');
process.on('exit', () => writeFileSync(process.env.SPY, JSON.stringify({
  own: process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')).map((name) => name.slice(13)),
  files: Object.keys(require.cache),
})));`;

describe('the short path of the command', () => {
  it('has no package in the command, nor in the code of call and status', async () => {
    const { metafile } = await build({
      entryPoints: [join(SRC, 'bin', 'toolherd.ts'), join(SRC, 'cli', 'run.ts')],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outdir: 'nowhere',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((file) => file.includes('node_modules'))).toEqual([]);
    // which files a command reads; it is as small as the rest
    const others = inputs.filter((file) => /src\/(?!bin\/|cli\/|ipc\/|fleet\/|shared\/)/.test(file));
    expect(others).toEqual(['src/install/load-options.ts']);
    expect(inputs.some((file) => file.endsWith('cli/commands/tools/call.ts'))).toBe(true);
  });

  it('loads no other bundle and no slow module of Node for call and status', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const spy = join(home.folder, 'spy.cjs');
    writeFileSync(spy, SPY);
    for (const args of [['call', 'good.echo', 'value=1'], ['status']]) {
      const seen = join(home.folder, 'seen.json');
      const env = { ...home.environment, SPY: seen };
      execFileSync(process.execPath, ['-r', spy, COMMAND, ...args], { cwd: home.folder, env });
      const { own, files } = JSON.parse(readFileSync(seen, 'utf8')) as { own: string[]; files: string[] };
      expect(own.filter((name) => HEAVY.includes(name))).toEqual([]);
      // the command itself comes compiled: had V8 refused that, it would be here
      const others = files
        .map((file) => basename(file))
        .filter((file) => !['spy.cjs', 'main.cjs'].includes(file));
      expect(others).toEqual([]);
    }
  });
});
