import { describe, expect, it } from 'vitest';
import { headersFor, type ParamHeader, paramHeaders } from '../../../src/link/remote/param-headers.js';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const schema = (properties: Record<string, unknown>, more = {}) => ({ type: 'object', properties, ...more });

describe('what a tool asks to have as headers', () => {
  it('is found at any depth of its properties', () => {
    expect(
      paramHeaders(schema({ a: region, b: schema({ c: { type: 'integer', 'x-mcp-header': 'C' } }), d: {} })),
    ).toEqual([
      { header: 'Mcp-Param-Region', path: ['a'] },
      { header: 'Mcp-Param-C', path: ['b', 'c'] },
    ]);
  });

  it.each([
    ['no name', schema({ a: { type: 'string', 'x-mcp-header': '' } })],
    ['a name that is no string', schema({ a: { type: 'string', 'x-mcp-header': 7 } })],
    ['a space', schema({ a: { type: 'string', 'x-mcp-header': 'My Region' } })],
    ['a line break', schema({ a: { type: 'string', 'x-mcp-header': 'a\r\nb' } })],
    ['a colon', schema({ a: { type: 'string', 'x-mcp-header': 'a:b' } })],
    ['an object', schema({ a: { type: 'object', 'x-mcp-header': 'A' } })],
    ['a number', schema({ a: { type: 'number', 'x-mcp-header': 'A' } })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['the same twice', schema({ a: region, b: { ...region, 'x-mcp-header': 'REGION' } })],
    ['the schema itself', { ...schema({}), 'x-mcp-header': 'A' }],
    ['an item of a list', schema({ a: { type: 'array', items: region } })],
    ['one of several', schema({}, { anyOf: [{}, schema({ a: region })] })],
    ['a definition', schema({}, { $defs: { a: region } })],
  ])('is refused when it is %s', (_, bad) => {
    expect(paramHeaders(bad)).toEqual({ problem: expect.stringContaining('x-mcp-header') });
  });

  it('is nothing where there is no schema', () => {
    expect([paramHeaders(undefined), paramHeaders([])]).toEqual([[], []]);
  });
});

describe('the headers of a call', () => {
  const wanted: ParamHeader[] = [{ header: 'Mcp-Param-V', path: ['v'] }];
  const of = (v: unknown) => headersFor(wanted, { v })['Mcp-Param-V'];
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

  it.each([
    ['us west 1', 'us west 1'],
    [42, '42'],
    [false, 'false'],
    ['Hello, 世界', base64('Hello, 世界')],
    [' padded ', base64(' padded ')],
    ['a\r\nX-Evil: 1', base64('a\r\nX-Evil: 1')],
    ['', base64('')],
    ['=?base64?eA==?=', base64('=?base64?eA==?=')],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    [2 ** 60, undefined],
    [Number.NaN, undefined],
  ])('of %j is %j', (value, header) => {
    expect(of(value)).toBe(header);
  });

  it('are none for arguments that are no object', () => {
    expect(headersFor(wanted, undefined)).toEqual({});
  });
});
