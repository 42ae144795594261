import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { afterLastBytes, MOST_TURNS, readInTurns } from '../../../src/link/stdio/pipes.js';

const WRITES = `
  const { writeSync } = require('node:fs');
  const bytes = Buffer.alloc(8e6, 'x');
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  writeSync(1, 'the end');
  // it stays: Node resumes the pipes of a process that exits, and then a third chunk may come in that turn
  setInterval(() => {}, 1e6);
`;

it('a pipe reads a flood completely, at most two chunks in a turn of the event loop', async () => {
  const child = spawn(process.execPath, ['-e', WRITES], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const chunks: Buffer[] = [];
  const turns: number[] = [];
  let inTurn = 0;
  let total = 0;
  readInTurns(child.stdout, (chunk) => {
    chunks.push(chunk);
    inTurn += chunk.length;
    total += chunk.length;
  });
  while (total < 8_000_007) {
    await new Promise(setImmediate);
    if (inTurn > 0) turns.push(inTurn);
    inTurn = 0;
  }
  const whole = Buffer.concat(chunks);
  expect([whole.length, whole.subarray(-7).toString()]).toEqual([8_000_007, 'the end']);
  // one full read, and the rest of the read before it
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * 65_536);
});

describe('waiting for the last bytes of a dead process', () => {
  /** How many turns it waits when `readAt` bytes have been read at each of them. */
  const turns = (readAt: (turn: number) => number) =>
    new Promise<number>((resolve) => {
      let turn = -1;
      const read = () => {
        turn += 1;
        return readAt(turn);
      };
      afterLastBytes(read, () => resolve(turn));
    });

  it('ends after two turns without new bytes', async () => {
    expect(await turns(() => 7)).toBe(2);
  });

  it('continues while bytes arrive', async () => {
    expect(await turns((turn) => Math.min(turn, 10))).toBe(12);
    expect(await turns((turn) => Math.floor(turn / 2) * Number(turn < 8))).toBe(10);
  });

  it('ends after MOST_TURNS turns at the latest', async () => {
    expect(await turns((turn) => turn)).toBe(MOST_TURNS);
  });
});
