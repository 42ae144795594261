import { describe, expect, it, test } from 'vitest';
import { didYouMean, nearMiss } from '../../../src/shared/text/near-miss.js';

test('the most similar name is suggested, however its words are joined', () => {
  expect(nearMiss('requestTimeout', ['timeout', 'request_timeout'])).toBe('request_timeout');
  expect(nearMiss('npxx', ['uvx', 'npx'])).toBe('npx');
  expect(nearMiss('raed', ['write', 'read'])).toBe('read');
  expect(didYouMean('anything', ['echo'])).toBe('');
});

test('names of 150 kB are not compared: 100 of them cost no time', () => {
  const names = Array.from({ length: 100 }, (_, index) => 'x'.repeat(150_000) + index);
  const begun = performance.now();
  expect(nearMiss('anything', [...names, 'anythin'])).toBe('anythin');
  expect(performance.now() - begun).toBeLessThan(500);
});

test('a thousand of 90,000 names that are as long as the word are compared', () => {
  const names = Array.from({ length: 90_000 }, (_, index) => `${index}`.padStart(64, 'x'));
  const begun = performance.now();
  expect(nearMiss('y'.repeat(64), names)).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(1000);
  expect(nearMiss('a-name', [...names, 'aName'])).toBe('aName');
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
