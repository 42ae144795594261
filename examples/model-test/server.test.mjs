// Model tests of toolherd's machines: no process, no socket, no real second. Run with: node --test
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverMachine, stateName } from 'toolherd/machines';
import { crashing, everyEdge, healthy, reports, SimulatedWorld, silent } from 'toolherd/testing';
import { createActor } from 'xstate';
import { getShortestPaths } from 'xstate/graph';

const settings = {
  name: 'example',
  startTimeoutMs: 30_000,
  discoverTimeoutMs: 4_000,
  idleTimeoutMs: 0,
  closeTimeoutMs: 7_000,
  idleForMs: () => 0,
};
const input = { ...settings, incarnation: 1 };

/**
 * What can happen to a server: the orders of its keeper, and the reports of its link.
 * @type {import('toolherd/machines').ServerEvent[]}
 */
const EVENTS = [
  { type: 'connect' },
  { type: 'stop' },
  ...[reports.opened(), reports.discovered(), reports.listChanged(), reports.hung()],
  ...[reports.exited(0), reports.exited(1), reports.failed(), reports.closed(), reports.closeFailed()],
];

/** Two states are the same if they have the same name and head for the same ending. */
const project = ({ value, context }) => `${stateName(value)} ${JSON.stringify(context.ending)}`;
const events = ({ status }) => (status === 'active' ? EVENTS : []);

/** One event in the simulated world: an order goes to the machine, a report comes from its link. */
function happens(world, server, event) {
  if (event.type.startsWith('link.')) world.say(event);
  else server.send(event);
  world.check(server.getSnapshot());
}

test('every edge of the server machine leads to the same state in the simulated world', () => {
  const edges = everyEdge(serverMachine, { input, events, project });
  for (const { path, event, to } of edges) {
    const world = new SimulatedWorld({ script: () => silent });
    const server = createActor(world.server, { clock: world.clock, input }).start();
    for (const step of [...path, event]) happens(world, server, step);
    assert.equal(stateName(server.getSnapshot().value), stateName(to.value));
  }
  assert.ok(edges.length > 50, `${edges.length} edges`);
});

test('XState finds a path to every outer state', () => {
  const paths = getShortestPaths(serverMachine, { input, events, serializeState: project });
  const reached = new Set(paths.map(({ state }) => stateName(state.value).split('.')[0]));
  assert.deepEqual([...reached].sort(), ['connected', 'connecting', 'created', 'disconnected', 'error']);
});

test('a server that crashes twice is restarted, and then stays up', () => {
  const world = new SimulatedWorld({
    script: (incarnation) => (incarnation < 3 ? crashing(100) : healthy()),
  });
  /** @type {import('toolherd/machines').RestartPolicy} */
  const policy = {
    ...{ restart: 'on-failure', maxRestarts: 5, restartWindowMs: 60_000, healthyAfterMs: 30_000 },
    backoff: { minMs: 500, maxMs: 30_000, factor: 2, jitter: 0 },
  };
  const keeper = createActor(world.keeper, {
    clock: world.clock,
    input: { policy, server: settings, now: world.clock.now, random: () => 0.5 },
  }).start();
  keeper.send({ type: 'start' });
  for (let second = 0; second < 60; second++) {
    world.clock.advance(1000);
    world.check();
  }
  assert.equal(stateName(keeper.getSnapshot().value), 'running.up');
  assert.deepEqual(
    world.alive.map(({ incarnation }) => incarnation),
    [3],
  );
});
