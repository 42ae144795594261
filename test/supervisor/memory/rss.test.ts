// isolated: measures the memory of its process
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { GroupMemory } from '../../../src/supervisor/memory/rss.js';

const MIB = 2 ** 20;
/** Those who were forked a moment ago have yet to become what they run. */
const SETTLED = { timeout: 10_000, interval: 20 };
const SLEEPERS = 'pids=; for n in 1 2 3 4 5 6 7 8; do sleep 1000 & pids="$pids $!"; done';

/** A process that leads its own group; `next` lets it read a line and waits for what it prints. */
async function group(script: string) {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(async () => {
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'exit');
  });
  await once(child.stdout, 'data');
  const next = () => {
    child.stdin.write('\n');
    return once(child.stdout, 'data');
  };
  return { leader: child.pid!, next };
}

function createMeter() {
  const time = { ms: 1000 };
  const { of } = new GroupMemory(() => time.ms);
  return { time, of };
}

describe.runIf(process.platform === 'linux')('the memory of a process group', () => {
  test('is the sum over its members, by the pid of the leader', async () => {
    const { leader: alone } = await group('echo ready; exec sleep 1000');
    const { leader: many } = await group(`${SLEEPERS}; echo ready; wait`);
    await vi.waitFor(() => {
      const memory = createMeter().of([alone, many]);
      expect([...memory!.keys()]).toEqual([alone, many]);
      expect(memory!.get(alone)).toBeGreaterThan(0.2 * MIB);
      expect(memory!.get(alone)).toBeLessThan(20 * MIB);
      expect(memory!.get(many)).toBeGreaterThan(memory!.get(alone)! * 4);
      expect(memory!.get(many)).toBeLessThan(100 * MIB);
    }, SETTLED);
  });

  test('is in bytes for any page size', () => {
    const mine = createMeter().of([process.pid])!.get(process.pid)!;
    const rss = process.memoryUsage.rss();
    expect(mine).toBeGreaterThan(rss * 0.7);
    // others of this group may be there as well
    expect(mine).toBeGreaterThan(10 * MIB);
  });

  test('has processes that start and end later at the next measurement', async () => {
    const { leader, next } = await group(
      `echo ready; read -r x; ${SLEEPERS}; echo came; read -r x; kill $pids; wait; echo went; read -r x`,
    );
    const { of, time } = createMeter();
    const bytes = () => of([leader])!.get(leader)!;
    const alone = bytes();
    await next();
    // a look a moment later is not worth another
    expect(bytes()).toBeLessThan(alone * 2);
    // one that has only just come has next to no memory yet
    await vi.waitFor(() => {
      time.ms += 1000;
      expect(bytes()).toBeGreaterThan(alone * 3);
    }, SETTLED);
    await next();
    expect(bytes()).toBeLessThan(alone * 2);
  });

  test('is absent for a group that does not exist', () => {
    const { of } = createMeter();
    expect(of([])).toEqual(new Map());
    expect(of([2 ** 22 + 1])).toEqual(new Map());
  });
});
