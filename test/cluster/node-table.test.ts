import { describe, expect, it } from 'vitest';
import { AWAY_MS, NodeTable } from '../../src/cluster/node-table.js';
import type { Beat, ServerList } from '../../src/cluster/presence-messages.js';
import { FakeClock } from '../link/fake-clock.js';

const beat = (more: Partial<Beat> = {}): Beat => ({
  ...{ instance: 'first', version: '1.0.0', api: 1, draining: false, list: 1, load: {} },
  ...more,
});

const list = (names: readonly string[], more: Partial<ServerList> = {}): ServerList => ({
  ...{ instance: 'first', list: 1 },
  servers: names.map((name) => ({
    ...{ name, identity: name, state: 'connected', detail: 'running' },
    ...{ ready: true, may_start: true, cluster: false, in_flight: 0 },
  })),
  ...more,
});

function makeTable() {
  const clock = new FakeClock();
  const heard = { changes: 0, missing: [] as string[], reports: 0 };
  const table = new NodeTable({
    clock,
    changed: () => {
      heard.changes += 1;
    },
    reported: () => {
      heard.reports += 1;
    },
    missing: (name) => void heard.missing.push(name),
  });
  const stateOf = (name: string) => table.get(name)?.state;
  const namesOf = (name: string) => table.get(name)?.servers.map((server) => server.name);
  return { clock, table, heard, stateOf, namesOf };
}

describe('the table of nodes', () => {
  it('a node is there when it has said that it lives, and what it offers', () => {
    const { table, heard, stateOf } = makeTable();
    table.heard('desk', beat());
    expect(stateOf('desk')).toBe('away');
    expect(heard.missing).toEqual(['desk']);
    table.listed('desk', list(['browser']));
    expect(stateOf('desk')).toBe('up');
    expect(heard.changes).toBe(1);
    table.heard('desk', beat({ load: { browser: 3 } }));
    expect(table.get('desk')?.servers[0]?.in_flight).toBe(3);
    expect([heard.changes, heard.reports]).toEqual([1, 2]);
  });

  it('a node that says nothing is away in time, keeps its servers for their names, and comes back with one word', () => {
    const { clock, table, stateOf, namesOf } = makeTable();
    table.heard('desk', beat());
    table.listed('desk', list(['browser']));
    clock.advance(AWAY_MS - 300);
    expect(stateOf('desk')).toBe('up');
    clock.advance(600);
    expect([stateOf('desk'), namesOf('desk')]).toEqual(['away', ['browser']]);
    table.heard('desk', beat());
    expect(stateOf('desk')).toBe('up');
  });

  it('a daemon that has started again is there when its own servers are known', () => {
    const { table, stateOf, namesOf } = makeTable();
    table.heard('desk', beat());
    table.listed('desk', list(['browser']));
    table.lost();
    table.heard('desk', beat({ instance: 'second', list: 0 }));
    expect([stateOf('desk'), namesOf('desk')]).toEqual(['away', ['browser']]);
    table.listed('desk', list(['browser']));
    expect(stateOf('desk')).toBe('away');
    table.listed('desk', list(['files'], { instance: 'second', list: 0 }));
    expect([stateOf('desk'), namesOf('desk')]).toEqual(['up', ['files']]);
  });

  it('an older list that arrives late changes nothing', () => {
    const { table, namesOf } = makeTable();
    table.heard('desk', beat({ list: 2 }));
    table.listed('desk', list(['new'], { list: 2 }));
    table.listed('desk', list(['old'], { list: 1 }));
    expect(namesOf('desk')).toEqual(['new']);
  });

  it('a machine that has slept gives the nodes their time again', () => {
    const { clock, table, stateOf } = makeTable();
    table.heard('desk', beat());
    table.listed('desk', list([]));
    clock.sleep(60_000);
    expect(stateOf('desk')).toBe('up');
    clock.advance(AWAY_MS + 300);
    expect(stateOf('desk')).toBe('away');
  });

  it('a node that drains says so, and one that leaves is forgotten', () => {
    const { table, stateOf } = makeTable();
    table.heard('desk', beat());
    table.listed('desk', list([]));
    table.heard('desk', beat({ draining: true }));
    expect(stateOf('desk')).toBe('draining');
    table.left('desk');
    expect(table.nodes).toEqual([]);
  });
});
