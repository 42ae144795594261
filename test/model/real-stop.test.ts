import { describe, expect, test } from 'vitest';
import { type HarnessOptions, RealHarness } from './real-harness.js';
import { type StepName, steps } from './real-steps.js';

/** Ignores the end of its input and TERM, so nothing but the last rung ends it. */
const stop = { closeMs: 50, termMs: 50 };
const LADDER_MS = stop.closeMs + stop.termMs;
/** For the system to bury it, on a machine that is busy with other things. */
const SLACK_MS = 4000;

const stubborn = (options: HarnessOptions = {}): HarnessOptions => ({
  behaviour: 'stubborn',
  ...options,
  spec: { stop, ...options.spec },
});

/** Each state of keeper and server that a real process can be in, and a way to it. */
const ways: [state: string, way: StepName[], options?: HarnessOptions][] = [
  ['idle', []],
  ['running.starting.queued', ['start']],
  ['connecting.opening', ['start']],
  ['connecting.aborting.asking (wanted)', ['start', 'restart']],
  ['connecting.aborting.asking (failing)', ['start', 'startTimeout']],
  ['connecting.aborting.killing (failing)', ['start', 'startTimeout', 'closeTimeout']],
  ['connected.discovering', ['start', 'open'], { lists: 'held' }],
  ['connected.serving', ['start', 'open', 'served']],
  ['connected.closing.asking (wanted)', ['start', 'open', 'idle']],
  ['connected.closing.killing (wanted)', ['start', 'open', 'idle', 'closeTimeout']],
  ['running.recalled', ['start', 'open', 'idle', 'call']],
  ['running.restarting', ['start', 'open', 'restart']],
  ['running.stopping', ['start', 'open', 'stop']],
  ['waiting.holding', ['start', 'open', 'crash', 'open', 'crash']],
  ['quarantined.holding', ['start', 'open', 'crash', 'open', 'crash'], { spec: { maxRestarts: 1 } }],
  ['stopped', ['stop']],
];

describe('layer 2, a real process that ignores EOF and TERM: stop always wins', () => {
  test.each(ways)('P6 I2 I5 I7: a stop from %s wins', async (state, way, options) => {
    const harness = new RealHarness(stubborn(options), () => {});
    const giveBack = state === 'running.starting.queued' ? harness.permits.ask(() => {}) : () => {};
    for (const step of way) await steps[step](harness);
    await harness.reaches(state);
    const pids = harness.world.alive.map(({ pid }) => pid!);
    const begun = performance.now();
    harness.stop();
    await harness.replica.whenGone();
    const tookMs = performance.now() - begun;
    expect(harness.keeper).toBe('stopped');
    expect(tookMs).toBeLessThan(LADDER_MS + SLACK_MS);
    expect(harness.world.alive).toEqual([]);
    // nothing starts again by a timer that was still armed
    harness.world.clock.skip(10 ** 6);
    await new Promise(setImmediate);
    expect([harness.keeper, harness.world.alive]).toEqual(['stopped', []]);
    if (pids.length > 0) expect(harness.replica.context.lastEnding).toMatchObject(ENDINGS[state] ?? KILLED);
    giveBack();
    await harness.end();
  });
});

const KILLED = { kind: 'disconnected', reason: 'stopped', killed: true };
const TIMEOUT = { kind: 'error', cause: 'timeout' };
/** Where something else came first, that is what it ended of. */
const ENDINGS: Record<string, object> = {
  'connecting.aborting.asking (failing)': TIMEOUT,
  'connecting.aborting.killing (failing)': TIMEOUT,
  'connected.closing.asking (wanted)': { ...KILLED, reason: 'idle' },
  'connected.closing.killing (wanted)': { ...KILLED, reason: 'idle' },
  'running.recalled': { ...KILLED, reason: 'idle' },
};
