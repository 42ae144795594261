import { expect, it } from 'vitest';
import type { FleetEvent, LocalFleet } from '../../../src/fleet/fleet.js';
import { ConnectionFleet } from '../../../src/ipc/server/connection-fleet.js';
import { DEFAULT_SURFACE } from '../../../src/shared/mcp/surface.js';
import { FakeFleet, stateEvent } from '../fake-fleet.js';

/** A shared fleet, and the one that a connection gets when it uses servers. */
function connectFleets() {
  const [herd, own] = [new FakeFleet(), new FakeFleet()];
  const watched: string[] = [];
  const watching = (name: string, fleet: LocalFleet): LocalFleet =>
    Object.assign(fleet, {
      watch: async () => {
        watched.push(name);
        return () => undefined;
      },
    });
  const [shared, alone] = [watching('herd', herd), watching('own', own)];
  let hasPerAgent = true;
  let seen = shared;
  const connection = new ConnectionFleet(
    {
      global: () => ({
        agent: null,
        profile: null,
        warnings: [],
        surface: DEFAULT_SURFACE,
        fleetForUse() {
          if (hasPerAgent) seen = alone;
          return seen;
        },
        fleetForReading: () => seen,
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
  return { herd, own, connection, watched, configure, isAlone: () => seen === alone };
}

it('a connection that only reads gets no per-agent servers', async () => {
  const { herd, connection, isAlone } = connectFleets();
  const heard: FleetEvent[] = [];
  connection.fleet.subscribe(['state'], (event) => heard.push(event));
  await connection.fleet.status();
  herd.tell(stateEvent('shared'));
  expect([heard.length, isAlone()]).toEqual([1, false]);
});

it('a connection that gets per-agent servers gets their events, each event once', async () => {
  const { herd, own, connection, configure } = connectFleets();
  configure(false);
  const heard: string[] = [];
  const end = connection.fleet.subscribe(['state'], ({ server }) => heard.push(server));
  await connection.fleet.tools();
  herd.tell(stateEvent('one'));
  configure(true);
  await connection.fleet.tools();
  herd.tell(stateEvent('of others'));
  own.tell(stateEvent('two'));
  end();
  own.tell(stateEvent('three'));
  expect(heard).toEqual(['one', 'two']);
});

it("a watch of a resource creates the connection's per-agent servers and watches there", async () => {
  const { connection, watched } = connectFleets();
  await connection.fleet.watch({ uri: 'x://y', server: undefined }, () => undefined);
  expect(watched).toEqual(['own']);
});

it('a hello with a server that the agent file lacks fails, keeps the view and releases the agent file', async () => {
  const [herd, agents] = [new FakeFleet(), new FakeFleet()];
  const check = () => Promise.reject(new Error('no such server'));
  let closed = 0;
  const close = () => {
    closed += 1;
  };
  const connection = new ConnectionFleet(
    {
      global: () => ({
        agent: null,
        profile: null,
        warnings: [],
        surface: DEFAULT_SURFACE,
        fleetForUse: () => herd,
        fleetForReading: () => herd,
        check,
        close: () => undefined,
      }),
      ofAgent: async (_, agent) => ({
        agent,
        profile: null,
        warnings: [],
        surface: DEFAULT_SURFACE,
        fleetForUse: () => agents,
        fleetForReading: () => agents,
        check,
        close,
      }),
    },
    'a',
  );
  await expect(connection.use({ agent: '/agent.yaml', server: 'absent' })).rejects.toThrow('no such server');
  expect([connection.agent, closed]).toEqual([null, 1]);
  await connection.use({ agent: '/agent.yaml' });
  expect([connection.agent, closed]).toEqual(['/agent.yaml', 1]);
});
