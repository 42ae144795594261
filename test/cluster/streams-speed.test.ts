// isolated: it measures the time of round trips
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { measure, median } from './speed.js';
import { endOf } from './support.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the measurement of streams over NATS is left out: ${missing}`);

const MESSAGE = Buffer.from(`${'x'.repeat(199)}\n`);
const ROUNDS = 1500;
const PAIRS = 5;

/** Messages of one length, answered in order. */
function asker(stream: Duplex): () => Promise<unknown> {
  const waiting: (() => void)[] = [];
  let bytes = 0;
  stream.on('data', (data: Buffer) => {
    bytes += data.length;
    for (; bytes >= MESSAGE.length; bytes -= MESSAGE.length) waiting.shift()?.();
  });
  return () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      stream.write(MESSAGE);
    });
}

describe.runIf(missing === undefined)('the speed of a stream', () => {
  it('a round trip over a stream takes about as long as a bare request of NATS', async () => {
    const nats = await startNatsServer();
    const there = await endOf(nats.url, 'there', (stream) => void stream.pipe(stream));
    const here = await endOf(nats.url, 'here');
    there.client().subscribe('bare.echo', { callback: (_, message) => void message.respond(message.data) });
    await there.connection.flush();
    const overStream = asker(await here.streams.open(there.address));
    const bare = () => here.client().request('bare.echo', MESSAGE);
    const rounds: Record<'one' | 'many', number[]> = { one: [], many: [] };
    for (let round = 0; round <= PAIRS; round += 1) {
      const own = await measure(overStream, ROUNDS, 1);
      const base = await measure(bare, ROUNDS, 1);
      const ownMany = await measure(overStream, 4 * ROUNDS, 64);
      const baseMany = await measure(bare, 4 * ROUNDS, 64);
      // the first warms up
      if (round === 0) continue;
      rounds.one.push(own.p50 / base.p50);
      rounds.many.push(ownMany.rate / baseMany.rate);
    }
    const [one, many] = [median(rounds.one), median(rounds.many)];
    console.info(
      `p50 of a stream / of a bare request: ${one.toFixed(2)}; rate with 64 at once: ${many.toFixed(2)}`,
    );
    expect(one).toBeLessThan(1.3);
    expect(many).toBeGreaterThan(0.7);
  });
});
