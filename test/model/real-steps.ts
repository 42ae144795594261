/** What can be done to a real server, or happen to it. */
import { expect } from 'vitest';
import type { RealHarness } from './real-harness.js';

export type Step = (harness: RealHarness) => Promise<void> | void;

/** What can be done to a server, or happen to it; each is over when it has had its effect. */
export const steps = {
  start: ({ replica }) => replica.order('start'),
  stop: (harness) => harness.stop(),
  restart: ({ replica }) => replica.order('restart'),
  reset: ({ replica }) => replica.order('reset'),
  call: (harness) => void harness.call('wait'),
  /** As a call would, also where a call is refused. */
  wake: ({ replica }) => {
    if (!replica.isUp) replica.discover();
  },
  open: async (harness) => {
    harness.world.say('open');
    await harness.reaches('running.up');
  },
  refuse: says('refuse'),
  exitAtStart: says('exit'),
  go: says('go'),
  crash: ends((harness) => void process.kill(harness.pid, 'SIGKILL')),
  exit: ends((harness) => void harness.call('exit')),
  end: ends((harness) => void harness.call('end')),
  shut: ends((harness) => void harness.call('shut')),
  hang: ends((harness) => {
    process.kill(harness.pid, 'SIGSTOP');
    harness.fire('ping');
  }),
  idle: async (harness) => {
    await harness.reaches('connected.serving');
    harness.fire('idleTimeout');
  },
  rest: async (harness) => {
    await harness.reaches('connected.serving');
    harness.world.clock.skip(1);
    harness.replica.context.incumbent?.send({ type: 'rest', message: 'the room is needed' });
  },
  backoff: async (harness) => {
    await harness.until('a wait', () => harness.keeper.startsWith('waiting'));
    harness.fire('backoff');
  },
  hold: async (harness) => {
    await harness.until('a hold', () => harness.keeper.endsWith('.holding'));
    harness.fire('hold');
  },
  startTimeout: (harness) => harness.fire('startTimeout'),
  discoverTimeout: (harness) => harness.fire('discoverTimeout'),
  closeTimeout: (harness) => harness.fire('closeTimeout'),
  /** It is killed then, and that is soon over. */
  kill: ends((harness) => harness.fire('closeTimeout')),
  listed: async (harness) => {
    const { isSettled } = harness.call('listed');
    expect(isSettled).toBe(false);
    await harness.until('listed', () => harness.callers.at(-1)!.isSettled);
  },
  changed: async (harness) => {
    harness.call('changed');
    await harness.until('notified of a change', () => harness.callers.at(-1)!.isSettled);
    harness.fire('change');
  },
  served: (harness) => harness.reaches('connected.serving'),
  /** Orders that come when the signal is out and the process is not gone yet. */
  killAndStop: ends((harness) => {
    harness.fire('closeTimeout');
    harness.replica.order('start');
    harness.stop();
  }),
  /** Says so in the middle of its handshake, or on its way out. */
  changedEarly: async (harness) => {
    const { changes } = harness;
    harness.world.say('changed');
    await harness.until('an early change', () => harness.changes > changes);
    harness.fire('change');
  },
} satisfies Record<string, Step>;

export type StepName = keyof typeof steps;

function says(word: 'refuse' | 'exit' | 'go'): Step {
  return ends((harness) => harness.world.say(word));
}

/** Over when this incarnation has come to its end. */
function ends(step: Step): Step {
  return async (harness) => {
    const { incumbent } = harness.replica.context;
    await step(harness);
    await harness.until('its end', () => incumbent?.getSnapshot().status !== 'active');
  };
}
