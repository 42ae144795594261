import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMAND } from '../support/command.js';
import { makeFolder } from '../support/folder.js';

it('D12: a Node that is too old is named at once, with the one that toolherd needs: exit 1', () => {
  const cwd = makeFolder({
    'old.cjs': "Object.defineProperty(process, 'version', { value: 'v18.20.8' });\n",
  });
  const args = ['--require', join(cwd, 'old.cjs'), COMMAND, 'version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  expect(stderr).toMatch(
    /^error: toolherd needs Node >= 20\.19, this is v18\.20\.8 \(.*\)\n {2}fix: install a newer Node.*\n$/,
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});
