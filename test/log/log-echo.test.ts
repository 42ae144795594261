import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { LogEcho } from '../../src/log/log-echo.js';

/** A stream whose reader takes a line on demand. */
function openEcho() {
  const taken: string[] = [];
  let take: () => void = () => undefined;
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      take = () => {
        taken.push(text);
        done();
      };
    },
  });
  const echo = new LogEcho(stream, () => new Date(0));
  const takeAll = async () => {
    for (let turns = 0; turns < 5000 && stream.writableLength > 0; turns += 1) {
      take();
      await new Promise(setImmediate);
    }
  };
  return { stream, echo, taken, takeAll };
}

const LINE = `${'x'.repeat(1023)}\n`;

test('a mebibyte waits for a slow reader; the rest is dropped, and counted when the reader has taken it', async () => {
  const { echo, taken, takeAll, stream } = openEcho();
  for (let count = 0; count < 3000; count += 1) echo.write(LINE);
  expect(stream.writableLength).toBe(2 ** 20);
  await takeAll();
  expect(taken).toHaveLength(1025);
  expect(JSON.parse(taken.at(-1) ?? '')).toEqual({
    level: 40,
    time: '1970-01-01T00:00:00.000Z',
    lost: 3000 - 1024,
    msg: expect.stringMatching(/^1976 log lines were dropped here/),
  });
  echo.write('next\n');
  await takeAll();
  expect(taken.at(-1)).toBe('next\n');
});

test('a stream that fails gets no further line', () => {
  const { echo, stream } = openEcho();
  stream.emit('error', new Error('write EPIPE'));
  echo.write(LINE);
  expect(stream.writableLength).toBe(0);
});
