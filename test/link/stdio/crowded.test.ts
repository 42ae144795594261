import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundle } from '../bundle.js';

const run = promisify(execFile);
const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));

describe('a daemon that may open no more files', () => {
  it('refuses the next server with an error, keeps the others, and recovers (P14)', async () => {
    const { file } = await bundle(new URL('./crowded-stand-in.ts', import.meta.url));
    const script = 'ulimit -n 64; exec "$0" "$@"';
    const { stdout } = await run('/bin/sh', ['-c', script, process.execPath, file, fixtures]);
    const { failed, answers, stopped, again } = JSON.parse(stdout);
    expect(failed.length).toBeGreaterThan(5);
    for (const one of failed) {
      expect(one).toMatchObject({ kind: 'error', cause: 'spawn', permanent: false });
      expect(one.message).toContain('the system refuses more processes or files (EMFILE)');
    }
    expect(answers).toBe(25 - failed.length);
    expect(stopped).toMatchObject({ kind: 'disconnected' });
    expect(again).toBe('opened');
  });
});
