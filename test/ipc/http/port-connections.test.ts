import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { PortConnections } from '../../../src/ipc/http/port-connections.js';

const sockets = (count: number) => Array.from({ length: count }, () => new Socket());
const openOf = (all: readonly Socket[]) => all.map(({ destroyed }) => !destroyed);

it('A full port closes its oldest connection without a request, and takes the new one', () => {
  const connections = new PortConnections(3);
  const all = sockets(5);
  for (const socket of all) expect(connections.add(socket)).toBe(true);
  expect(openOf(all)).toEqual([false, false, true, true, true]);
});

it('A port keeps connections with a request, and refuses the next one when all have had one', () => {
  const connections = new PortConnections(2);
  const [first, second, third, fourth] = sockets(4) as [Socket, Socket, Socket, Socket];
  connections.add(first);
  connections.heard(first);
  connections.add(second);
  expect(connections.add(third)).toBe(true);
  expect(openOf([first, second, third])).toEqual([true, false, true]);
  connections.heard(third);
  expect(connections.add(fourth)).toBe(false);
  expect(openOf([first, third, fourth])).toEqual([true, true, false]);
});

it('A connection that has closed makes room', async () => {
  const connections = new PortConnections(1);
  const [first, second] = sockets(2) as [Socket, Socket];
  connections.add(first);
  connections.heard(first);
  const closed = new Promise((resolve) => first.once('close', resolve));
  first.destroy();
  await closed;
  expect(connections.add(second)).toBe(true);
});
