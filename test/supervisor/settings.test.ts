import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { groupMemory } from '../../src/supervisor/rss.js';
import { serverSettings } from '../../src/supervisor/server-settings.js';
import { spec } from './world.js';

test('I7: what the machine is told of a spec leaves the link its whole ladder', () => {
  const settings = serverSettings(spec({ idleTimeoutMs: 7 }), () => 42);
  expect(settings).toMatchObject({
    name: 'srv',
    startTimeoutMs: 32_000,
    closeTimeoutMs: 9_000,
    idleTimeoutMs: 7,
  });
  expect(settings.idleForMs()).toBe(42);
});

describe.runIf(process.platform === 'linux')('the memory of process groups', () => {
  const MIB = 2 ** 20;

  test('is that of all their members, by the leader', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 1000 & echo ready; wait'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(async () => {
      process.kill(-child.pid!, 'SIGKILL');
      await once(child, 'exit');
    });
    await once(child.stdout, 'data');
    const memory = groupMemory([child.pid!]);
    expect([...memory!.keys()]).toEqual([child.pid]);
    expect(memory!.get(child.pid!)).toBeGreaterThan(0.2 * MIB);
    expect(memory!.get(child.pid!)).toBeLessThan(100 * MIB);
  });

  test('of none is none, and of one that is gone nothing', () => {
    expect(groupMemory([])).toEqual(new Map());
    expect(groupMemory([2 ** 22 + 1])).toEqual(new Map());
  });
});
