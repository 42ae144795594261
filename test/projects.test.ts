import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProjects } from './projects.js';
import { ROOT } from './support/run.js';

const { unit, process: withProcesses, e2e, isolated } = findProjects();
const SELF = 'test/projects.test.ts';
const matching = (files: readonly string[], pattern: RegExp) =>
  files.filter((file) => file !== SELF && pattern.test(readFileSync(join(ROOT, file), 'utf8')));

describe('the projects of the test suite', () => {
  it('each has tests, and every test is in one of them', () => {
    for (const files of [unit, withProcesses, e2e, isolated]) expect(files.length).toBeGreaterThan(5);
    const all = [...unit, ...withProcesses, ...e2e, ...isolated];
    expect(all).toContain(SELF);
    expect(new Set(all).size).toBe(all.length);
  });

  it('a test outside of e2e has no build: importing test/support/command.ts fails there', async () => {
    expect(process.env.TOOLHERD_TEST_DIST).toBe('');
    const name = './support/command.js';
    await expect(import(name)).rejects.toThrow('this test needs the build');
  });

  it('no test outside of e2e finds a build in another way', () => {
    const build = /\bdist\/bin\b|\bROOT, 'dist'|TOOLHERD_TEST_DIST\b/;
    expect(matching([...unit, ...withProcesses, ...isolated], build)).toEqual([]);
  });

  it('a test that changes or counts what its whole process does is isolated', () => {
    const global = /\bprocess\.umask\(|\bspyOn\((?:JSON|Buffer)\b|\bprocess\.memoryUsage\b/;
    expect(matching([...unit, ...withProcesses, ...e2e], global)).toEqual([]);
  });
});
