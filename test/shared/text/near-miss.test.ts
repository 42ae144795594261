import { describe, expect, it, test } from 'vitest';
import { didYouMean, nearMiss } from '../../../src/shared/text/near-miss.js';

test('the most similar name is suggested, however its words are joined', () => {
  expect(nearMiss('requestTimeout', ['timeout', 'request_timeout'])).toBe('request_timeout');
  expect(nearMiss('npxx', ['uvx', 'npx'])).toBe('npx');
  expect(nearMiss('raed', ['write', 'read'])).toBe('read');
  expect(didYouMean('anything', ['echo'])).toBe('');
});

test('names of more than 128 characters are not compared', () => {
  const word = 'x'.repeat(64);
  expect(nearMiss(word, ['x'.repeat(128)])).toBe('x'.repeat(128));
  expect(nearMiss(word, ['x'.repeat(129)])).toBeUndefined();
  expect(nearMiss('anything', ['x'.repeat(150_000), 'anythin'])).toBe('anythin');
});

test('a word is compared with the first thousand of its length, so that long lists cost no more', () => {
  const name = 'y'.repeat(64);
  const near = `${'y'.repeat(62)}zz`;
  const others = Array.from({ length: 1000 }, (_, index) => `${index}`.padStart(64, 'x'));
  expect(nearMiss(name, [...others.slice(1), near])).toBe(near);
  expect(nearMiss(name, [...others, near])).toBeUndefined();
  expect(nearMiss('a-name', [...others, 'aName'])).toBe('aName');
});

describe('the nearest of several words', () => {
  it.each([
    ['stat', ['start', 'status', 'stop'], 'status'],
    ['sta', ['start', 'status', 'stop'], undefined],
    ['validte', ['validate', 'version'], 'validate'],
    ['requestTimeout', ['request_timeout', 'timeout'], 'request_timeout'],
    ['ad', ['add', 'auth'], 'add'],
    ['A', ['_', 'B'], undefined],
    ['a', ['A'], 'A'],
    ['', ['x'], undefined],
    ['xyz', ['status'], undefined],
  ])('the nearest to %s among %j is %s', (word, words, nearest) => {
    expect(nearMiss(word, words)).toBe(nearest);
  });
});
