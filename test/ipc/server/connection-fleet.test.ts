import { expect, it } from 'vitest';
import type { Fleet, FleetEvent } from '../../../src/fleet/fleet.js';
import { ConnectionFleet } from '../../../src/ipc/server/connection-fleet.js';
import { FakeFleet, stateEvent } from '../fake-fleet.js';

/** A herd, and the one that a connection gets when it acts. */
function stage() {
  const [herd, own] = [new FakeFleet(), new FakeFleet()];
  const watched: string[] = [];
  const watching = (name: string, fleet: Fleet): Fleet =>
    Object.assign(fleet, {
      watch: async () => {
        watched.push(name);
        return () => undefined;
      },
    });
  const [shared, alone] = [watching('herd', herd), watching('own', own)];
  let hasPerAgent = true;
  let seen = shared;
  const outlook = new ConnectionFleet(
    {
      own: () => ({
        agent: null,
        get fleet() {
          if (hasPerAgent) seen = alone;
          return seen;
        },
        get seen() {
          return seen;
        },
        check: () => Promise.resolve(),
        close: () => undefined,
      }),
      ofAgent: () => Promise.reject(new Error('no agents here')),
    },
    'a',
  );
  const configure = (is: boolean) => {
    hasPerAgent = is;
  };
  return { herd, own, outlook, watched, configure, isAlone: () => seen === alone };
}

it('whoever only listens gets no servers of his own', async () => {
  const { herd, outlook, isAlone } = stage();
  const heard: FleetEvent[] = [];
  outlook.fleet.subscribe(['state'], (event) => heard.push(event));
  await outlook.fleet.status();
  herd.tell(stateEvent('shared'));
  expect([heard.length, isAlone()]).toEqual([1, false]);
});

it('whoever gets servers of his own hears of those he already listens to, and of each once', async () => {
  const { herd, own, outlook, configure } = stage();
  configure(false);
  const heard: string[] = [];
  const end = outlook.fleet.subscribe(['state'], ({ server }) => heard.push(server));
  await outlook.fleet.tools();
  herd.tell(stateEvent('one'));
  configure(true);
  await outlook.fleet.tools();
  herd.tell(stateEvent('of others'));
  own.tell(stateEvent('two'));
  end();
  own.tell(stateEvent('three'));
  expect(heard).toEqual(['one', 'two']);
});

it('to watch a resource is to act: it is one of his own servers that tells', async () => {
  const { outlook, watched } = stage();
  await outlook.fleet.watch?.({ uri: 'x://y', server: undefined }, () => undefined);
  expect(watched).toEqual(['own']);
});

it('whoever asks for a server that the agent has not still sees what he saw, and holds nothing of the agent', async () => {
  const [herd, agents] = [new FakeFleet(), new FakeFleet()];
  const check = () => Promise.reject(new Error('no such server'));
  let closed = 0;
  const close = () => {
    closed += 1;
  };
  const outlook = new ConnectionFleet(
    {
      own: () => ({ agent: null, fleet: herd, seen: herd, check, close: () => undefined }),
      ofAgent: async (_, agent) => ({ agent, fleet: agents, seen: agents, check, close }),
    },
    'a',
  );
  await expect(outlook.look('/agent.yaml', 'nobody')).rejects.toThrow('no such server');
  expect([outlook.agent, closed]).toEqual([null, 1]);
  await outlook.look('/agent.yaml');
  expect([outlook.agent, closed]).toEqual(['/agent.yaml', 1]);
});
