import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILD } from './support/command.js';
import { makeFolder } from './support/folder.js';

describe('the build', () => {
  it('the build makes a slower command without machine code if it has no writable temporary folder', () => {
    const folder = makeFolder();
    const bin = join(folder, 'dist', 'bin');
    const env = { ...process.env, TMPDIR: join(folder, 'nowhere'), TOOLHERD_HOME: join(folder, 'home') };
    const run = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8', env });
    const built = run(BUILD, join(folder, 'dist'));
    expect(built).toMatchObject({ status: 0 });
    for (const name of ['validate', 'allow', 'command', 'program']) {
      expect(built.stderr).toContain(`${name}.cjs was built without machine code and will start slower`);
    }
    expect(readdirSync(bin).filter((file) => file.endsWith('.cache'))).toEqual([]);
    // the user's own home is nothing to the build
    expect(readdirSync(folder)).toEqual(['dist']);
    expect(run(join(bin, 'main.cjs'), 'version')).toMatchObject({ status: 0 });
  });
});
