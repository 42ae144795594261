/** What can be done to a real server, or happen to it. */
import { expect } from 'vitest';
import type { RealStage } from './real-stage.js';

export type Step = (stage: RealStage) => Promise<void> | void;

/** What can be done to a server, or happen to it; each is over when it has had its effect. */
export const steps = {
  start: ({ replica }) => replica.order('start'),
  stop: (stage) => stage.stop(),
  restart: ({ replica }) => replica.order('restart'),
  reset: ({ replica }) => replica.order('reset'),
  call: (stage) => void stage.call('wait'),
  /** As a call would, also where a call is refused. */
  wake: ({ replica }) => {
    if (!replica.isUp) replica.discover();
  },
  open: async (stage) => {
    stage.world.say('open');
    await stage.reaches('running.up');
  },
  refuse: says('refuse'),
  exitAtStart: says('exit'),
  go: says('go'),
  crash: ends((stage) => void process.kill(stage.pid, 'SIGKILL')),
  exit: ends((stage) => void stage.call('exit')),
  end: ends((stage) => void stage.call('end')),
  shut: ends((stage) => void stage.call('shut')),
  hang: ends((stage) => {
    process.kill(stage.pid, 'SIGSTOP');
    stage.fire('ping');
  }),
  idle: async (stage) => {
    await stage.reaches('connected.serving');
    stage.fire('idleTimeout');
  },
  rest: async (stage) => {
    await stage.reaches('connected.serving');
    stage.world.clock.skip(1);
    stage.replica.context.incumbent?.send({ type: 'rest', message: 'the room is needed' });
  },
  backoff: async (stage) => {
    await stage.until('a wait', () => stage.keeper.startsWith('waiting'));
    stage.fire('backoff');
  },
  hold: async (stage) => {
    await stage.reaches('waiting.holding');
    stage.fire('hold');
  },
  startTimeout: (stage) => stage.fire('startTimeout'),
  discoverTimeout: (stage) => stage.fire('discoverTimeout'),
  closeTimeout: (stage) => stage.fire('closeTimeout'),
  /** It is killed then, and that is soon over. */
  kill: ends((stage) => stage.fire('closeTimeout')),
  listed: async (stage) => {
    const { isSettled } = stage.call('listed');
    expect(isSettled).toBe(false);
    await stage.until('listed', () => stage.callers.at(-1)!.isSettled);
  },
  changed: async (stage) => {
    stage.call('changed');
    await stage.until('notified of a change', () => stage.callers.at(-1)!.isSettled);
    stage.fire('change');
  },
  served: (stage) => stage.reaches('connected.serving'),
  /** Orders that come when the signal is out and the process is not gone yet. */
  killAndStop: ends((stage) => {
    stage.fire('closeTimeout');
    stage.replica.order('start');
    stage.stop();
  }),
  /** Says so in the middle of its handshake, or on its way out. */
  changedEarly: async (stage) => {
    const { changes } = stage;
    stage.world.say('changed');
    await stage.until('an early change', () => stage.changes > changes);
    stage.fire('change');
  },
} satisfies Record<string, Step>;

export type StepName = keyof typeof steps;

function says(word: 'refuse' | 'exit' | 'go'): Step {
  return ends((stage) => stage.world.say(word));
}

/** Over when this incarnation has come to its end. */
function ends(step: Step): Step {
  return async (stage) => {
    const { incumbent } = stage.replica.context;
    await step(stage);
    await stage.until('its end', () => incumbent?.getSnapshot().status !== 'active');
  };
}
