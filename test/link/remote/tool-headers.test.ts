import { describe, expect, it } from 'vitest';
import {
  headersFor,
  type ParamHeader,
  paramHeaders,
  ToolHeaders,
} from '../../../src/link/remote/tool-headers.js';

const regionSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const call = (name: string) => ({ method: 'tools/call', params: { name, arguments: { region: 'eu' } } });

function createHeaders() {
  const logs: string[] = [];
  const headers = new ToolHeaders((text) => logs.push(text));
  const list = (id: number, tools: unknown) => {
    headers.requested(id, { method: 'tools/list' });
    return headers.replied({ id, result: { tools, nextCursor: 'x' } }).result;
  };
  return { headers, logs, list };
}

describe('ToolHeaders', () => {
  it('learns the headers of a tool from each list, and replaces them with the next', () => {
    const { headers, list } = createHeaders();
    expect(headers.headersOf(call('find'))).toEqual({});
    list(1, [{ name: 'find', inputSchema: regionSchema }]);
    expect(headers.headersOf(call('find'))).toEqual({ 'Mcp-Param-Region': 'eu' });
    expect(headers.headersOf(call('other'))).toEqual({});
    list(2, [{ name: 'find', inputSchema: { type: 'object' } }]);
    expect(headers.headersOf(call('find'))).toEqual({});
  });

  it('removes a tool whose headers are forbidden, logs it, and keeps every other item', () => {
    const { list, logs } = createHeaders();
    const bad = { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } };
    expect(list(1, [{ name: 'bad', inputSchema: bad }, { name: 'good' }, 7])).toEqual({
      tools: [{ name: 'good' }, 7],
      nextCursor: 'x',
    });
    expect(logs).toEqual([expect.stringContaining("tool 'bad' is left out")]);
  });

  it('ignores other replies, and replies to requests that were lost', () => {
    const { headers, list } = createHeaders();
    const reply = { id: 9, result: { tools: [{ name: 'find', inputSchema: regionSchema }] } };
    expect(headers.replied(reply)).toBe(reply);
    headers.requested(9, { method: 'tools/list' });
    headers.lost(9);
    headers.replied(reply);
    expect([headers.headersOf(call('find')), list(3, 'nonsense')]).toEqual([
      {},
      { tools: 'nonsense', nextCursor: 'x' },
    ]);
  });
});

const region = { type: 'string', 'x-mcp-header': 'Region' };
const objectSchema = (properties: Record<string, unknown>, more = {}) => ({
  type: 'object',
  properties,
  ...more,
});

describe('paramHeaders', () => {
  it('finds the key at any depth of the properties', () => {
    expect(
      paramHeaders(
        objectSchema({ a: region, b: objectSchema({ c: { type: 'integer', 'x-mcp-header': 'C' } }), d: {} }),
      ),
    ).toEqual([
      { header: 'Mcp-Param-Region', path: ['a'] },
      { header: 'Mcp-Param-C', path: ['b', 'c'] },
    ]);
  });

  it.each([
    ['no name', objectSchema({ a: { type: 'string', 'x-mcp-header': '' } })],
    ['a name that is no string', objectSchema({ a: { type: 'string', 'x-mcp-header': 7 } })],
    ['a space', objectSchema({ a: { type: 'string', 'x-mcp-header': 'My Region' } })],
    ['a line break', objectSchema({ a: { type: 'string', 'x-mcp-header': 'a\r\nb' } })],
    ['a colon', objectSchema({ a: { type: 'string', 'x-mcp-header': 'a:b' } })],
    ['an object', objectSchema({ a: { type: 'object', 'x-mcp-header': 'A' } })],
    ['a number', objectSchema({ a: { type: 'number', 'x-mcp-header': 'A' } })],
    ['no type', objectSchema({ a: { 'x-mcp-header': 'A' } })],
    ['the same twice', objectSchema({ a: region, b: { ...region, 'x-mcp-header': 'REGION' } })],
    ['the schema itself', { ...objectSchema({}), 'x-mcp-header': 'A' }],
    ['an item of a list', objectSchema({ a: { type: 'array', items: region } })],
    ['one of several', objectSchema({}, { anyOf: [{}, objectSchema({ a: region })] })],
    ['a definition', objectSchema({}, { $defs: { a: region } })],
  ])('reports a problem for %s', (_, bad) => {
    expect(paramHeaders(bad)).toEqual({ problem: expect.stringContaining('x-mcp-header') });
  });

  it('finds nothing without a schema', () => {
    expect([paramHeaders(undefined), paramHeaders([])]).toEqual([[], []]);
  });
});

describe('headersFor', () => {
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
  ])('an argument %j becomes %j', (value, header) => {
    expect(of(value)).toBe(header);
  });

  it('makes no header of arguments that are no object', () => {
    expect(headersFor(wanted, undefined)).toEqual({});
  });
});
