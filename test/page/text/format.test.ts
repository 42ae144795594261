import { describe, expect, it } from 'vitest';
import { count, memory, milliseconds, plural, shortPath } from '../../../src/page/text/format.js';

describe('numbers for people', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1.0k'],
    [9999, '9.9k'],
    [12_345, '12k'],
    [999_999, '999k'],
    [1_250_000, '1.2M'],
    [45_000_000, '45M'],
  ])('the count %d is never rounded up: %s', (value, text) => {
    expect(count(value)).toBe(text);
  });

  it.each([
    [null, '–'],
    [0.123, '0.12 ms'],
    [4.56, '4.6 ms'],
    [123.4, '123 ms'],
    [1234, '1.23 s'],
    [12_345, '12.3 s'],
    [125_000, '2m5s'],
  ])('the duration %s has three digits at most: %s', (ms, text) => {
    expect(milliseconds(ms)).toBe(text);
  });

  it.each([
    [null, '–'],
    [0, '0 B'],
    [2000, '2 kB'],
    [50_331_648, '48 MB'],
    [16_106_127_360, '15.0 GB'],
  ])('the memory of %s bytes is %s', (bytes, text) => {
    expect(memory(bytes)).toBe(text);
  });

  it('one is not a plural', () => {
    expect([plural(1, 'call'), plural(0, 'call'), plural(1234, 'call')]).toEqual([
      '1 call',
      '0 calls',
      '1,234 calls',
    ]);
  });

  it('a long path keeps its end', () => {
    expect(shortPath('/home/me/projects/shop/agent.yaml', 16)).toBe('…shop/agent.yaml');
    expect(shortPath('/a/agent.yaml', 16)).toBe('/a/agent.yaml');
  });
});
