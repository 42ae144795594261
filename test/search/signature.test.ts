import { describe, expect, it } from 'vitest';
import { firstSentence, signature } from '../../src/search/signature.js';

/** Half of a surrogate pair. */
const HALF = /\p{Cs}/u;

const of = (properties: object, required: string[] = [], more: object = {}) =>
  signature({ name: 't', inputSchema: { type: 'object', properties, required, ...more } });

describe('a signature', () => {
  it('has the required arguments first, each with its type', () => {
    const properties = { head: { type: 'number' }, path: { type: 'string' } };
    expect(of(properties, ['path'])).toBe('t(path: string, head?: number)');
  });

  it.each([
    [{ a: { type: 'array', items: { type: 'string' } } }, 't(a?: string[])'],
    [{ a: { type: 'array' } }, 't(a?: any[])'],
    [{ a: { enum: ['x', 'y'] } }, 't(a?: "x" | "y")'],
    [{ a: { type: 'array', items: { enum: ['x', 1] } } }, 't(a?: ("x" | 1)[])'],
    [{ a: { type: ['string', 'null'] } }, 't(a?: string | null)'],
    [{ a: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, 't(a?: string | number)'],
    [{ a: { $ref: '#/$defs/Mode' } }, 't(a?: "r" | "w")'],
    [{ a: {} }, 't(a?)'],
    [{ a: { $ref: '#/$defs/__proto__' } }, 't(a?)'],
  ])('shows %j as %s', (properties, expected) => {
    expect(of(properties, [], { $defs: { Mode: { enum: ['r', 'w'] } } })).toBe(expected);
  });

  it('shows no arguments without a schema, and the first twelve of many', () => {
    expect(signature({ name: 't' })).toBe('t()');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`a${at}`, {}]));
    expect(of(many)).toMatch(/^t\(a0\?, .*a11\?, …\)$/);
    expect(of({ a: { enum: [1, 2, 3, 4, 5, 6, 7] } })).toBe('t(a?: 1 | 2 | 3 | 4 | 5 | …)');
  });
});

describe('the signature of a hostile schema', () => {
  const nested = (depth: number) => {
    let items: object = { type: 'string' };
    for (let at = 0; at < depth; at += 1) items = { type: 'array', items };
    return items;
  };

  it('is short, whatever the schema holds', () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `argument-${at}-${'x'.repeat(100)}`);
    expect(of(Object.fromEntries(names.map((name) => [name, {}])), names).length).toBeLessThan(1000);
    expect(of({ a: { enum: ['x'.repeat(1_000_000)] } }).length).toBeLessThan(200);
    expect(of({ a: { type: Array(100_000).fill('string') } }).length).toBeLessThan(200);
  });

  it('is one line, whatever the arguments are called', () => {
    const hostile = { 'x)\nother_tool(': { type: 'in\r\n\u2028teger' } };
    expect(of(hostile)).toBe('t(x) other_tool(?: in teger)');
  });

  it('has no half of a surrogate pair where it is cut', () => {
    for (const pad of ['', 'x']) {
      const long = `${pad}${'😀'.repeat(1000)}`;
      expect(of({ [long]: { enum: [long], type: 'string' } })).not.toMatch(HALF);
      expect(signature({ name: long })).not.toMatch(HALF);
      expect(firstSentence(long)).not.toMatch(HALF);
    }
  });

  it('ends at a depth that no stack overflows', () => {
    expect(of({ a: nested(20_000) })).toBe('t(a?: any[][][][][][])');
    expect(of({ a: { enum: [nested(20_000)] } })).toBe('t(a?: {…})');
  });
});

describe('the first sentence', () => {
  it.each([
    ['Reads a file. Then more.', 'Reads a file.'],
    ['Reads v1.2 of e.g. a file, or none', 'Reads v1.2 of e.g. a file, or none'],
    ['\n  First line\nsecond line.', 'First line'],
    ['查询日期。返回格式。', '查询日期。'],
    ['', ''],
  ])('is cut from %j as %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  it('has at most 300 characters', () => {
    expect(firstSentence('a'.repeat(10_000))).toHaveLength(300);
  });
});
