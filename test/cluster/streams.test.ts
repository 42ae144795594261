import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WINDOW_BYTES } from '../../src/cluster/nats-stream.js';
import { SILENCE_MS } from '../../src/cluster/streams.js';
import { TransportError } from '../../src/link/failures/transport-failure.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { share } from '../support/share.js';
import { until } from '../support/until.js';
import { type End, endOf } from './support.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the tests of streams over NATS are left out: ${missing}`);

const echo = (stream: Duplex) => void stream.pipe(stream);

async function pair(url: string, accept?: (stream: Duplex) => void): Promise<{ here: End; there: End }> {
  return { here: await endOf(url, 'here'), there: await endOf(url, 'there', accept) };
}

/** Reads so many bytes. */
async function read(stream: Duplex, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= bytes) break;
  }
  return Buffer.concat(chunks);
}

async function ask(stream: Duplex, text: string): Promise<string> {
  const answer = once(stream, 'data');
  stream.write(text);
  return String((await answer)[0]);
}

const whyOf = async (broken: Promise<unknown>) => {
  const error = await broken.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TransportError);
  const { failure } = error as TransportError;
  expect(failure.kind).toBe('node');
  return failure.kind === 'node' ? failure.why : '';
};

const failureOf = async (stream: Duplex) => {
  const error = stream.errored ?? (await once(stream, 'error'))[0];
  return whyOf(Promise.reject(error));
};

describe.runIf(missing === undefined)('a stream between two nodes', () => {
  const nats = share(() => startNatsServer());
  const small = share(() => startNatsServer({ config: ['max_payload: 4096'] }));

  it('a stream passes bytes both ways, and says who opened it', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    expect(await ask(stream, 'hello\n')).toBe('hello\n');
    expect(there.accepted).toMatchObject([{ from: 'here' }]);
    expect([here.streams.size, there.streams.size]).toEqual([1, 1]);
    stream.destroy();
    await until(() => there.streams.size === 0);
    expect(here.streams.size).toBe(0);
  });

  it('a stream cuts bytes at the payload limit of the NATS server', async () => {
    const { here, there } = await pair(small().url, echo);
    const stream = await here.streams.open(there.address);
    const sent = randomBytes(300_000);
    stream.write(sent);
    expect((await read(stream, sent.length)).equals(sent)).toBe(true);
  });

  it('a stream passes 50 MB each way, in order and complete', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    const size = 50 * 2 ** 20;
    const chunk = randomBytes(2 ** 20);
    const [sent, got] = [createHash('sha256'), createHash('sha256')];
    let bytes = 0;
    stream.on('data', (data: Buffer) => {
      got.update(data);
      bytes += data.length;
    });
    for (let done = 0; done < size; done += chunk.length) {
      chunk.writeUInt32BE(done, 0);
      sent.update(chunk);
      if (!stream.write(Buffer.from(chunk))) await once(stream, 'drain');
    }
    await until(() => bytes === size);
    expect(got.digest('hex')).toBe(sent.digest('hex'));
  });

  it('a writer waits for a reader that does not read, and memory is bounded by the window', async () => {
    const { here, there } = await pair(nats().url);
    const stream = await here.streams.open(there.address);
    const chunk = randomBytes(65_536);
    const total = 64 * WINDOW_BYTES;
    let written = 0;
    const writing = (async () => {
      for (; written < total; written += chunk.length) if (!stream.write(chunk)) await once(stream, 'drain');
    })();
    await until(() => there.streams.heldBytes >= WINDOW_BYTES);
    // whatever still comes has come when an answer of the node is here
    await here.streams.ping(there.address, 5000);
    expect(written).toBeLessThan(2 * WINDOW_BYTES);
    expect(there.streams.heldBytes).toBeLessThanOrEqual(2 * WINDOW_BYTES);
    let bytes = 0;
    there.accepted[0]!.stream.on('data', (data: Buffer) => {
      bytes += data.length;
    });
    await writing;
    await until(() => bytes === total);
  });

  it('a reader that does not read holds up no other stream', async () => {
    const { here, there } = await pair(nats().url, (stream) => {
      if (there.accepted.length > 1) echo(stream);
    });
    const stuck = await here.streams.open(there.address);
    for (let at = 0; at < 100; at += 1) stuck.write(randomBytes(65_536));
    const other = await here.streams.open(there.address);
    expect(await ask(other, 'still here')).toBe('still here');
  });

  it('200 streams at once keep their bytes apart', async () => {
    const { here, there } = await pair(nats().url, echo);
    const streams = await Promise.all(Array.from({ length: 200 }, () => here.streams.open(there.address)));
    const answers = await Promise.all(
      streams.map(async (stream, index) => {
        const text = `${index}:`.repeat(5000);
        stream.write(text);
        return (await read(stream, text.length)).toString() === text;
      }),
    );
    expect(answers.every(Boolean)).toBe(true);
  });

  it('a side that has ended still gets what the other one writes', async () => {
    const { here, there } = await pair(nats().url, (stream) => {
      stream.on('end', () => stream.end('the last words'));
      stream.resume();
    });
    const stream = await here.streams.open(there.address);
    stream.end('that is all');
    const words: Buffer[] = [];
    for await (const chunk of stream) words.push(chunk as Buffer);
    expect(Buffer.concat(words).toString()).toBe('the last words');
    await until(() => here.streams.size === 0 && there.streams.size === 0);
  });

  it('a side that is destroyed ends the other one at once, with a reason', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    there.accepted[0]!.stream.destroy();
    expect(await failureOf(stream)).toBe('the other side closed it');
  });

  it('an open stream is refused where the node takes none, with the reason', async () => {
    const { here, there } = await pair(nats().url, echo);
    there.refusal = 'it is draining';
    expect(await whyOf(here.streams.open(there.address))).toBe('it is draining');
    expect(here.streams.size).toBe(0);
    expect(there.accepted).toEqual([]);
  });

  it('a node that is not there is known at once, before anything is sent', async () => {
    const here = await endOf(nats().url, 'here');
    const startedAt = performance.now();
    const why = await whyOf(here.streams.open({ node: 'missing', instance: 'abcdefghijkl' }));
    expect(why).toContain('no daemon of this name');
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('a node that has lost its connection is noticed by the next message', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    await there.connection.close();
    stream.write('are you there?');
    expect(await failureOf(stream)).toContain('its daemon has ended');
  });

  it('a node that has lost its connection is noticed within a second while nothing is sent', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    const failed = failureOf(stream);
    await there.connection.close();
    const lostAt = performance.now();
    expect(await failed).toContain('its daemon has ended');
    expect(performance.now() - lostAt).toBeLessThan(1500);
  });

  it('a node that says nothing any more is given up within 3.5 s', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    there.isDeaf = true;
    const silentAt = performance.now();
    expect(await failureOf(stream)).toContain('nothing was heard of it');
    expect(performance.now() - silentAt).toBeLessThan(SILENCE_MS + 1500);
  });

  it('a frame that is out of its turn ends the stream: bytes are never joined over a gap', async () => {
    const { here, there } = await pair(nats().url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    const publish = here.connection.publish.bind(here.connection);
    here.connection.publish = () => undefined;
    stream.write('this is lost');
    await until(() => here.streams.heldBytes === 0);
    here.connection.publish = publish;
    stream.write('this is not');
    expect(await failureOf(stream)).toContain('the other side closed it');
    expect(there.streams.size).toBe(0);
  });
});

describe.runIf(missing === undefined)('streams and the NATS server', () => {
  it('every stream breaks when the NATS server is killed, and new ones work after its restart', async () => {
    const nats = await startNatsServer();
    const { here, there } = await pair(nats.url, echo);
    const streams = await Promise.all(Array.from({ length: 5 }, () => here.streams.open(there.address)));
    await ask(streams[0]!, 'x');
    const failures = Promise.all(streams.map(failureOf));
    await nats.kill();
    for (const why of await failures) expect(why).toContain('the connection to the NATS server is lost');
    expect(await whyOf(here.streams.open(there.address))).toContain('not connected to NATS');
    await until(() => there.streams.size === 0);
    await nats.start();
    await until(() => here.connection.isUp && there.connection.isUp);
    const again = await here.streams.open(there.address);
    expect(await ask(again, 'back')).toBe('back');
  });

  it('a daemon that starts before the NATS server joins when that is there', async () => {
    const nats = await startNatsServer();
    await nats.kill();
    const starting = endOf(nats.url, 'early');
    await nats.start();
    const end = await starting;
    expect(end.lost[0]).toContain('no NATS server answers');
  });

  it('a NATS server that hangs is given up, and the streams with it', async () => {
    const nats = await startNatsServer();
    const { here, there } = await pair(nats.url, echo);
    const stream = await here.streams.open(there.address);
    await ask(stream, 'x');
    nats.freeze();
    const frozenAt = performance.now();
    await failureOf(stream);
    expect(performance.now() - frozenAt).toBeLessThan(5000);
    nats.thaw();
    await until(() => here.connection.isUp && there.connection.isUp);
    const again = await until(() => here.streams.open(there.address).catch(() => undefined));
    expect(await ask(again, 'back')).toBe('back');
  });
});
