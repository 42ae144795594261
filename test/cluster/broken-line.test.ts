import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headers } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { SILENCE_MS } from '../../src/cluster/streams.js';
import { Subjects } from '../../src/cluster/subjects.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { atEnd, share } from '../support/share.js';
import { until } from '../support/until.js';
import { endOf } from './support.js';

const missing = whyNoNatsServer();
const echo = (stream: Duplex) => void stream.pipe(stream);

/** The way of one node to NATS, which can be cut without a restart of NATS. */
async function lineTo(port: number): Promise<{ url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(async () => {
    proxy.close();
    cut();
  });
  const address = proxy.address();
  return { url: `nats://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, cut };
}

async function ask(stream: Duplex, text: string): Promise<string> {
  const answer = once(stream, 'data');
  stream.write(text);
  return String((await answer)[0]);
}

describe.runIf(missing === undefined)('a stream and a line that breaks for a moment', () => {
  const nats = share(() => startNatsServer());

  it('a stream ends at both nodes, when one of them has lost NATS for less than the silence of a dead node', async () => {
    const line = await lineTo(nats().port);
    const here = await endOf(nats().url, 'here');
    const there = await endOf(line.url, 'there', echo);
    const opened = await here.streams.open(there.address);
    const accepted = await there.streams.open(here.address);
    await ask(opened, 'x');
    const cutAt = performance.now();
    line.cut();
    await until(() => there.lost.length > 0);
    expect(there.streams.size).toBe(0);
    expect(accepted.destroyed).toBe(true);
    await until(() => there.connection.isUp);
    await until(() => here.streams.size === 0);
    expect(performance.now() - cutAt).toBeLessThan(SILENCE_MS + 1500);
    expect(await ask(await here.streams.open(there.address), 'again')).toBe('again');
  });

  it('a stream goes on when a third node says that the other one is gone, or asks in its name', async () => {
    const here = await endOf(nats().url, 'here');
    const there = await endOf(nats().url, 'there', echo);
    const third = await endOf(nats().url, 'third');
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    const heard: string[] = [];
    third
      .client()
      .subscribe('not.of.this.cluster', { callback: (_, { subject }) => void heard.push(subject) });
    const subjects = new Subjects('test');
    const noReceiver = headers(503, 'No Responders');
    const { node, instance } = there.address;
    third.client().publish(subjects.pong(here.address, `${node}:${instance}`), '', { headers: noReceiver });
    third.client().publish(subjects.ping(here.address), '[]', { reply: 'not.of.this.cluster' });
    await third.connection.flush();
    await third.streams.ping(here.address, 2000);
    expect(await ask(stream, 'still here')).toBe('still here');
    expect(heard).toEqual([]);
  });

  it('a stream whose last message NATS has lost ends, and its caller does not wait for an answer', async () => {
    const here = await endOf(nats().url, 'here');
    const there = await endOf(nats().url, 'there', echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    const publish = here.connection.publish.bind(here.connection);
    here.connection.publish = () => undefined;
    stream.write('this is lost');
    await until(() => here.streams.heldBytes === 0);
    here.connection.publish = publish;
    await until(() => here.streams.size === 0 && there.streams.size === 0);
  });
});
