import { describe, expect, it } from 'vitest';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';

describe('toolherd call-many', () => {
  it.each([
    ['does not exist', 'missing.json', 'ENOENT'],
    ['is a folder', '.', 'EISDIR'],
  ])('a file that %s is a usage error: exit 2', async (_, file, code) => {
    const { status, stderr } = await toolherd(['call-many', file], { cwd: makeFolder() });
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`^error: UsageError: ${file} cannot be read: ${code}`));
    expect(stderr).toContain('  fix: ');
  });

  it.each([
    ['[1', 'the file is not valid JSON'],
    ['{}\n{', 'line 2 is not valid JSON'],
    ['[]', 'the file holds no calls'],
  ])('%j is a usage error: %s', async (input, message) => {
    const { status, stderr } = await toolherd(['call-many', '-'], { cwd: makeFolder(), input });
    expect(status).toBe(2);
    expect(stderr).toContain(`error: UsageError: ${message}`);
  });
});
