import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shapeOf as describeShape } from '../../../src/supervisor/events/argument-shape.js';
import { CleanNames } from '../../../src/supervisor/events/clean-names.js';

const names = () => new CleanNames((text) => text.replaceAll('hunter2', '[PASSWORD]'));
const shapeOf = (value: unknown) => describeShape(value, names());
const textOf = (value: unknown) => JSON.stringify(shapeOf(value));

describe('the shape of arguments', () => {
  it('has the names and types of arguments', () => {
    const given = {
      path: '/etc',
      depth: 3,
      all: true,
      none: null,
      tags: ['a', 2],
      empty: [],
      in: { a: [{}] },
    };
    expect(shapeOf(given)).toEqual({
      ...{ path: 'string', depth: 'number', all: 'boolean', none: 'null' },
      ...{ tags: ['string'], empty: [], in: { a: ['object'] } },
    });
    expect(['x', [1], null].map(shapeOf)).toEqual(['string', ['number'], 'null']);
  });

  it.each([
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    '0123456789abcdef',
    'someone@example.com',
    '/home/me/diary.txt',
    'a whole sentence',
    'x'.repeat(33),
    'a"b',
    'line\nbreak',
    '__proto__',
    '42',
    '',
  ])('shows no key that may be data: %j', (key) => {
    const given = JSON.parse(`{"a":1,${JSON.stringify(key)}:"x"}`) as unknown;
    expect(shapeOf(given)).toEqual({ a: 'number', '*': 'string' });
  });

  it('replaces a key that is a secret', () => {
    expect(shapeOf({ hunter2: 1 })).toEqual({ '[PASSWORD]': 'number' });
  });

  it('is bounded for any number and depth of arguments', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, { a: { b: 1 } }]));
    expect(textOf(many).length).toBeLessThan(3000);
    expect(shapeOf(many)).toHaveProperty('*', 'object');
    const deep = JSON.parse(`${'{"a":'.repeat(900)}1${'}'.repeat(900)}`) as unknown;
    expect(shapeOf(deep)).toEqual({ a: { a: { a: 'object' } } });
    const wide = Array.from({ length: 20 }, () => many);
    expect(textOf({ a: wide, b: wide, c: many }).length).toBeLessThan(3000);
  });

  it('X1: has no value of generated arguments', () => {
    const value = fc.stringMatching(/^[a-z]{10}$/).map((text) => `!${text}!`);
    const { object } = fc.letrec<{ object: unknown }>((tie) => ({
      object: fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom('path', 'id')),
        fc.oneof({ maxDepth: 4 }, value, fc.array(value), tie('object')),
      ),
    }));
    fc.assert(
      fc.property(object, (given) => {
        expect(textOf(given)).not.toMatch(/![a-z]{10}!/);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});

describe('names in records', () => {
  it('are replaced by their length beyond 256 characters', () => {
    expect(names().clean('x'.repeat(257))).toBe('(257 characters)');
    expect(names().clean('x'.repeat(256))).toContain('xxx');
    expect([names().clean(null), names().clean(undefined)]).toEqual([null, null]);
  });

  it('are redacted again after a second, because the secrets may have changed', () => {
    let secret = 'nothing';
    const some = new CleanNames((text) => text.replaceAll(secret, '[SECRET]'));
    some.tick(0);
    expect([some.clean('abc'), some.argument('abc')]).toEqual(['abc', 'abc']);
    secret = 'abc';
    some.tick(999);
    expect(some.clean('abc')).toBe('abc');
    some.tick(1000);
    expect([some.clean('abc'), some.argument('abc')]).toEqual(['[SECRET]', '[SECRET]']);
  });
});
