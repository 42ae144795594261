/** A keeper, with a real server machine under it, in a world where the test makes everything happen. */
import type { KeeperEvent } from '../../src/machines/index.js';
import { reports, type SimulatedWorld, stateName } from '../../src/testing/index.js';
import { graphPolicy, type KeeperSnapshot, keeperGraph } from './graphs.js';
import { startKeeper, times } from './setting.js';

export function keeperHarness(world: SimulatedWorld) {
  world.reset();
  const keeper = startKeeper(world, graphPolicy);
  const state = () => stateName(keeper.getSnapshot().value);
  const tell = (type: 'stop') => keeper.getSnapshot().context.incumbent?.send({ type });
  return { world, keeper, state, tell };
}

export type KeeperHarness = ReturnType<typeof keeperHarness>;

/**
 * How each ending comes about, by where the incarnation is. What is missing cannot happen: an incarnation that has no
 * process yet cannot crash, one that was told to stop cannot become idle.
 */
type Causes = Readonly<Record<string, (harness: KeeperHarness) => void>>;

const inQueue: Causes = {
  stopped: ({ tell }) => tell('stop'),
  crashed: ({ world }) => world.breakLink(),
};

const whileConnecting: Causes = {
  stopped: ({ tell, world }) => {
    tell('stop');
    world.say(reports.closed());
  },
  crashed: ({ world }) => world.say(reports.exited(1)),
  'close failed': ({ tell, world }) => {
    tell('stop');
    world.say(reports.closeFailed());
  },
  'wants auth': ({ world }) => {
    world.say(reports.failed({ cause: 'auth' }));
    world.say(reports.closed());
  },
  hopeless: ({ world }) => {
    world.say(reports.failed({ permanent: true }));
    world.say(reports.closed());
  },
  misconfigured: ({ world }) => {
    world.say(reports.failed({ looksMisconfigured: true }));
    world.say(reports.closed());
  },
};

const whileUp: Causes = {
  ...whileConnecting,
  ended: ({ world }) => world.say(reports.exited(0)),
  idle: ({ world }) => {
    world.say(reports.discovered());
    world.idleForMs = times.idleTimeoutMs;
    world.clock.advance(times.idleTimeoutMs);
    world.idleForMs = 0;
    world.say(reports.closed());
  },
};

const whileStopping: Causes = {
  stopped: ({ world }) => world.say(reports.closed()),
  crashed: ({ world }) => world.breakLink(),
  'close failed': ({ world }) => world.say(reports.closeFailed()),
};

const causes: Readonly<Record<string, Causes>> = {
  'running.starting.queued': inQueue,
  'running.starting.connecting': whileConnecting,
  'running.up': whileUp,
  'running.recalled': whileUp,
  'running.stopping': whileStopping,
  'running.restarting': whileStopping,
};

/** Orders need no cause. */
const orders = new Set(['start', 'stop', 'restart', 'reset', 'call.waiting']);

/** Makes it happen, and looks whether all is as it should be. */
export function happens(harness: KeeperHarness, name: string): void {
  const { world, keeper, state } = harness;
  const [, ending] = /^server ended: (.*)$/.exec(name) ?? [];
  const cause = ending && causes[state()]?.[ending];
  if (orders.has(name)) keeper.send({ type: name } as KeeperEvent);
  else if (cause) cause(harness);
  else if (name === 'server broke') world.breakServer();
  else if (name === 'permit broke') world.breakPermit();
  else if (name === 'permit.granted') world.grant();
  else if (name === 'server.connected') world.say(reports.opened());
  else if (name === 'after backoff')
    world.clock.advance((keeper.getSnapshot().context.nextRetryAt ?? 0) - world.clock.now());
  else if (name === 'after hold')
    world.clock.advance((keeper.getSnapshot().context.callableAt ?? 0) - world.clock.now());
  else throw new Error(`nothing in this world makes "${name}" happen in ${state()}`);
  checkKeeper(harness);
}

/** Whatever happened, the keeper's own bookkeeping agrees with the world. (Plain code: this runs at every step.) */
function checkKeeper({ world, keeper, state }: KeeperHarness): void {
  const { context, children } = keeper.getSnapshot();
  const place = state();
  world.check(context.incumbent?.getSnapshot());
  const wanted = place.startsWith('running') ? `server.${context.incarnation}` : '';
  const servers = Object.keys(children).filter((id) => id.startsWith('server.'));
  const permits = { 'running.starting.queued': [1], 'running.starting.connecting': [1, 0] }[place] ?? [0];
  const laws: Record<string, boolean> = {
    'I1: one incarnation while running, none otherwise': servers.join() === wanted,
    'a permit is held while starting (unless it broke), and only then': permits.includes(world.permitsHeld),
    'a next try is promised while waiting, and only then':
      (context.nextRetryAt !== undefined) === place.startsWith('waiting'),
    'so is when a call may make it, also in quarantine':
      (context.callableAt !== undefined) === /^(waiting|quarantined)/.test(place),
    'and that moment has come where calls may':
      place.endsWith('.callable') === isCallable({ world, context }),
    'a reason is given in quarantine':
      (context.quarantineReason !== undefined) === place.startsWith('quarantined'),
  };
  for (const [law, holds] of Object.entries(laws)) if (!holds) throw new Error(`${law} (${place})`);
}

function isCallable({
  world,
  context,
}: {
  world: SimulatedWorld;
  context: KeeperSnapshot['context'];
}): boolean {
  return context.callableAt !== undefined && context.callableAt <= world.clock.now();
}

function isPossible(state: KeeperSnapshot, name: string): boolean {
  const place = stateName(state.value);
  // Without a process the incarnation ends in the same breath: the keeper is never found stopping there.
  if (place === 'running.starting.queued' && (name === 'stop' || name === 'restart')) return false;
  // A next try that is nearer than the end of the hold comes first.
  const { callableAt = 0, nextRetryAt = Number.POSITIVE_INFINITY } = state.context;
  if (name === 'after hold') return callableAt < nextRetryAt;
  const [, ending] = /^server ended: (.*)$/.exec(name) ?? [];
  return ending === undefined || causes[place]?.[ending] !== undefined;
}

/** Every edge that can happen here. */
export function possibleEdges() {
  return keeperGraph(isPossible);
}
