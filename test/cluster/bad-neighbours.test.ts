import { describe, expect, it } from 'vitest';
import { FORGET_MS, MOST_NODES, NodeTable } from '../../src/cluster/node-table.js';
import { type Beat, MOST_SERVERS, readBeat, readServerList } from '../../src/cluster/presence-messages.js';
import { Subjects } from '../../src/cluster/subjects.js';
import { FakeClock } from '../link/fake-clock.js';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const beat: Beat = { instance: 'first', version: '1', api: 1, draining: false, list: 1, load: {} };
const offered = (name: string) => ({ name, identity: 'i' });
const namesIn = (servers: readonly unknown[]) =>
  readServerList(bytes({ instance: 'first', list: 1, servers }))?.servers.map(({ name }) => name);

function makeTable() {
  const clock = new FakeClock();
  const changes = { count: 0 };
  const table = new NodeTable({
    clock,
    changed: () => {
      changes.count += 1;
    },
    reported: () => undefined,
    missing: () => undefined,
  });
  return { clock, table, changes };
}

describe('what other nodes say of themselves', () => {
  it('a server whose name has control characters, or is blank, is left out', () => {
    expect(namesIn([offered('good'), offered('a\u001b[2Jb'), offered('a\nb'), offered(' ')])).toEqual([
      'good',
    ]);
  });

  it('a node may not offer more servers than the limit', () => {
    const servers = Array.from({ length: MOST_SERVERS + 10 }, (_, index) => offered(`s${index}`));
    expect(namesIn(servers)).toHaveLength(MOST_SERVERS);
  });

  it('a version with control characters is no version', () => {
    expect(readBeat(bytes({ ...beat, version: '\u001b]0;x\u0007' }))).toBeUndefined();
  });

  it('a server that is called like a method of every object has no calls', () => {
    const { table } = makeTable();
    table.heard('desk', beat);
    table.listed(
      'desk',
      readServerList(bytes({ instance: 'first', list: 1, servers: [offered('constructor')] }))!,
    );
    expect(table.get('desk')?.servers[0]?.in_flight).toBe(0);
  });

  it('a node whose name could not be in a config is not listed', () => {
    const { table } = makeTable();
    for (const name of ['\u001b[2J', 'a b', '', 'x'.repeat(33)]) table.heard(name, beat);
    expect(table.nodes).toEqual([]);
  });

  it('the table holds a bounded number of nodes: the ones that are away longest make room', () => {
    const { clock, table } = makeTable();
    table.heard('first', beat);
    table.lost();
    clock.advance(1);
    for (let at = 0; at < MOST_NODES + 50; at += 1) table.heard(`n${at}`, beat);
    expect(table.nodes).toHaveLength(MOST_NODES);
    expect(table.get('first')).toBeUndefined();
  });

  it('a node that was away for a day is forgotten, and its servers with it', () => {
    const { clock, table, changes } = makeTable();
    table.heard('old', beat);
    table.listed('old', readServerList(bytes({ instance: 'first', list: 1, servers: [offered('s')] }))!);
    clock.advance(FORGET_MS);
    const before = changes.count;
    table.heard('new', beat);
    clock.advance(1000);
    expect(table.get('old')).toBeUndefined();
    expect(changes.count).toBeGreaterThan(before);
  });
});

describe('where a node answers', () => {
  it('a node writes to no subject that only the sender wants', () => {
    const subjects = new Subjects('team');
    const address = { node: 'desk', instance: 'abcdefghijkl' };
    expect(subjects.isForAnswers(subjects.stream(address, 'abcdefgh'))).toBe(true);
    expect(subjects.isForAnswers(subjects.pong(address, 'abcdefgh'))).toBe(true);
    for (const subject of [
      '',
      'other.app.stop',
      '$KV.toolherd-team.node.desk',
      '$JS.API.STREAM.DELETE.KV_toolherd-team',
      'toolherd.other.desk.abcdefghijkl.s.abcdefgh',
      subjects.open(address, 'gpu'),
      subjects.ping(address),
      `${subjects.stream(address, 'x')}.more`,
    ])
      expect(subjects.isForAnswers(subject)).toBe(false);
  });
});
