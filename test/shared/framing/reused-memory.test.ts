import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WriteQueue } from '../../../src/ipc/jsonrpc/write-queue.js';
import { ReplyScan } from '../../../src/link/calls/raw/reply-scan.js';
import { BLOCK_BYTES, BufferPool } from '../../../src/shared/framing/buffer-pool.js';
import { detachBuffer } from '../../../src/shared/framing/detach-buffer.js';
import { Framer } from '../../../src/shared/framing/framer.js';
import { until } from '../../support/until.js';

const SEED = 20_261_116;
const SERVERS = 3;
const REPLIES = 40;
const FIRST_ID = 2 ** 30;

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Two ends of a real connection. */
async function connections(count: number) {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const server = createServer();
  const path = join(folder, 's');
  server.listen(path);
  await once(server, 'listening');
  const pairs: { here: Socket; there: Socket }[] = [];
  for (let at = 0; at < count; at += 1) {
    const there = connect(path);
    const [here] = (await once(server, 'connection')) as [Socket];
    for (const socket of [here, there]) socket.on('error', () => undefined);
    pairs.push({ here, there });
  }
  onTestFinished(async () => {
    for (const { here, there } of pairs) for (const socket of [here, there]) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });
  return pairs;
}

it('reused memory is never read by its previous readers, fast, slow or gone (U8)', async () => {
  const pick = numbers(SEED);
  const blocks = new BufferPool();
  let givenBack = 0;
  // a later read of the block would find this
  const spent = (piece: Buffer) => {
    const before = blocks.idle;
    blocks.release(piece);
    if (blocks.idle === before) return;
    givenBack += 1;
    Buffer.from(piece.buffer).fill('!');
  };
  const clients = (await connections(6)).map(({ here, there }, number) => {
    const queue = new WriteQueue(here, () => undefined, { spent });
    here.on('close', () => queue.close());
    const heard: Buffer[] = [];
    const kind = ['fast', 'slow', 'gone'][number % 3]!;
    there.on('data', (chunk) => {
      heard.push(Buffer.from(chunk));
      if (kind === 'gone' && pick(20) === 0) there.destroy();
      if (kind !== 'slow' || pick(3) > 0) return;
      there.pause();
      setTimeout(() => there.resume(), pick(4));
    });
    return { kind, queue, heard, sent: [] as string[] };
  });

  const servers = Array.from({ length: SERVERS }, (_, number) => {
    const lines = Array.from({ length: REPLIES }, (_, at) => {
      const head = `{"jsonrpc":"2.0","id":${FIRST_ID + at},"result":{"of":"${number}.${at}`;
      // one full read, two, or any other size
      const length = [BLOCK_BYTES, 2 * BLOCK_BYTES, pick(400_000), pick(30_000), pick(200)][pick(5)]!;
      const end = `"}}${pick(4) === 0 ? '\r' : ''}\n`;
      return head.padEnd(length - end.length, String.fromCharCode(97 + pick(26))) + end;
    });
    const told: string[] = [];
    const hand = (pieces: readonly Buffer[], scan: ReplyScan) => {
      const reply = scan.end(pieces);
      if (reply === undefined) throw new Error('a reply was not read');
      const client = clients[pick(clients.length)]!;
      const text = Buffer.concat(reply.result.pieces).toString('latin1');
      told.push(text);
      if (pick(3) === 0) {
        const short = 's'.repeat(pick(9000));
        client.sent.push(short);
        client.queue.send(short);
      }
      client.sent.push(text);
      client.queue.send(reply.result.pieces);
    };
    const scanned = () => {
      const scan = new ReplyScan();
      return {
        push: (piece: Buffer) => scan.push(piece),
        end: (pieces: readonly Buffer[]) => hand(pieces, scan),
      };
    };
    const line = (bytes: Buffer) => {
      const whole = scanned();
      whole.push(bytes);
      whole.end([bytes]);
    };
    return {
      bytes: Buffer.from(lines.join('')),
      at: 0,
      lines,
      told,
      framer: new Framer(2 ** 30, { line, long: scanned }, blocks),
    };
  });

  while (servers.some(({ at, bytes }) => at < bytes.length)) {
    for (const server of servers) {
      const size = pick(3) > 0 ? BLOCK_BYTES : 1 + pick(BLOCK_BYTES);
      const part = server.bytes.subarray(server.at, server.at + size);
      server.at += part.length;
      if (part.length === 0) continue;
      const chunk = Buffer.allocUnsafeSlow(part.length);
      part.copy(chunk);
      if (server.framer.push(chunk)) detachBuffer(chunk);
    }
    if (pick(2) === 0) await new Promise(setImmediate);
  }
  for (const { queue } of clients) await queue.emptied();

  for (const { lines, told } of servers) {
    expect(told).toEqual(lines.map((text) => text.trimEnd().slice(text.indexOf('{"of"'), -1)));
  }
  for (const { kind, heard, sent } of clients) {
    const [got, all] = [() => Buffer.concat(heard).toString('latin1'), sent.join('')];
    if (kind !== 'gone') await until(() => got().length >= all.length);
    expect(all.startsWith(got()), kind).toBe(true);
  }
  expect(givenBack).toBeGreaterThan(50);
});
