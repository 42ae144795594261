import { pbkdf2 } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stampOf, watchConfig } from '../../src/config/watch.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';

const derive = promisify(pbkdf2);

/** A file that is watched, and how often it was said to have changed. */
function watch(text: string | undefined, since?: string) {
  const file = join(makeFolder({}), 'config.yaml');
  if (text !== undefined) writeFileSync(file, text);
  let changes = 0;
  onTestFinished(
    watchConfig(
      file,
      () => {
        changes += 1;
      },
      since ?? stampOf(file),
    ),
  );
  return { file, changes: () => changes };
}

describe('a watched config', () => {
  it('is read again if it changes in the moment in which the watch begins', async () => {
    // work for all of Node's threads: what looks at the file in one of them sees the change only
    const busy = Array.from({ length: 8 }, () => derive('a', 'b', 200_000, 32, 'sha256'));
    const { file, changes } = watch('a: 1');
    writeFileSync(file, 'a: 22');
    await Promise.all(busy);
    await until(() => changes() === 1, 5000);
  });

  it('is read again if it changed before the watch began', async () => {
    const { changes } = watch('a: 1', 'another stamp');
    await until(() => changes() === 1);
  });

  it('is read again when it is created, changed and removed', async () => {
    const { file, changes } = watch(undefined);
    writeFileSync(file, 'a: 1');
    await until(() => changes() === 1);
    writeFileSync(file, 'a: 22');
    await until(() => changes() === 2);
    rmSync(file);
    await until(() => changes() === 3);
    expect(changes()).toBe(3);
  });
});
