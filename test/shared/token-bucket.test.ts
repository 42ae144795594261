import { expect, it } from 'vitest';
import { TokenBucket } from '../../src/shared/token-bucket.js';
import { FakeClock } from '../link/fake-clock.js';

function createBucket(perSecond = 10, burst = 5) {
  const clock = new FakeClock();
  return { clock, bucket: new TokenBucket(clock, { perSecond, burst }) };
}

it('a new bucket lets its burst pass at once, and no more', () => {
  const { bucket } = createBucket();
  const taken = Array.from({ length: 6 }, () => bucket.take(1));
  expect(taken).toEqual([true, true, true, true, true, false]);
  expect(bucket.isEmpty).toBe(true);
});

it('an empty bucket is filled at its rate', () => {
  const { bucket, clock } = createBucket();
  bucket.take(5);
  clock.advance(100);
  expect([bucket.take(1), bucket.take(1)]).toEqual([true, false]);
});

it('a bucket never holds more than its burst', () => {
  const { bucket, clock } = createBucket();
  clock.advance(3_600_000);
  const taken = Array.from({ length: 6 }, () => bucket.take(1));
  expect(taken.filter(Boolean)).toHaveLength(5);
});

it('a cost over what is left passes, and its debt is earned back before anything else passes', () => {
  const { bucket, clock } = createBucket();
  expect(bucket.take(25)).toBe(true);
  clock.advance(2000);
  expect(bucket.take(1)).toBe(false);
  clock.advance(100);
  expect(bucket.take(1)).toBe(true);
});

it('a refused cost spends nothing', () => {
  const { bucket, clock } = createBucket();
  bucket.take(5);
  for (let count = 0; count < 10; count += 1) bucket.take(100);
  clock.advance(100);
  expect(bucket.take(1)).toBe(true);
});

it('spend counts without a check, and only refill shows what was earned since', () => {
  const { bucket, clock } = createBucket();
  bucket.spend(5);
  clock.advance(100);
  expect(bucket.isEmpty).toBe(true);
  bucket.refill();
  expect(bucket.isEmpty).toBe(false);
});
