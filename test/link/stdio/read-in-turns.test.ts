import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { readInTurns } from '../../../src/link/stdio/read-in-turns.js';

const WRITES = `
  const { writeSync } = require('node:fs');
  const bytes = Buffer.alloc(8e6, 'x');
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  writeSync(1, 'the end');
`;

it('a flood is read in turns, all of it, and others have theirs between', async () => {
  const child = spawn(process.execPath, ['-e', WRITES], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const chunks: Buffer[] = [];
  const turns: number[] = [];
  let inTurn = 0;
  const turn = () => {
    if (inTurn > 0) turns.push(inTurn);
    inTurn = 0;
    if (!child.stdout.readableEnded) setImmediate(turn);
  };
  readInTurns(child.stdout, (chunk) => {
    chunks.push(chunk);
    inTurn += chunk.length;
  });
  setImmediate(turn);
  await once(child.stdout, 'end');
  const whole = Buffer.concat(chunks);
  expect([whole.length, whole.subarray(-7).toString()]).toEqual([8_000_007, 'the end']);
  // a read that was full, and what was left behind the one before it
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * 65_536);
});
