// isolated: measures the memory of its process
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementSources, isDeeperThan, memberSource } from '../../../src/ipc/jsonrpc/json-source.js';
import { MAX_BATCH, MAX_DEPTH, readLine } from '../../../src/ipc/jsonrpc/message.js';

const read = (text: string) => readLine(Buffer.from(text));
const spaced = (value: unknown) => JSON.stringify(value, null, '\t');

describe('a line', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"m"}', { kind: 'request', id: '1', method: 'm' }],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', { kind: 'request', id: 'null' }],
    ['{"jsonrpc":"2.0","id":"1","method":"m","params":[]}', { kind: 'request', id: '"1"', params: [] }],
    ['{"jsonrpc":"2.0","method":"m","params":null}', { kind: 'notification', method: 'm', params: null }],
    ['{"jsonrpc":"2.0","method":"$/cancel","params":{"id":"x"}}', { kind: 'cancel', target: '"x"' }],
    ['{"jsonrpc":"2.0","method":"$/cancel","params":{"id":{}}}', { kind: 'notification' }],
    ['{"jsonrpc":"2.0","id":1,"result":null}', { kind: 'reply', id: '1', result: null }],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m"}}', { kind: 'failure', id: '1' }],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', { kind: 'invalid', id: 'null', error: { code: -32600 } }],
    ['{"id":7,"method":"m"}', { kind: 'invalid', id: '7', error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","id":7,"method":3}', { kind: 'invalid', id: '7', error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","id":7,"method":"m","params":3}', { kind: 'invalid', error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","id":7,"method":"m","result":3}', { kind: 'invalid', error: { code: -32600 } }],
    [
      '{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":5,"message":"m"}}',
      { kind: 'invalid', error: { code: -32600 } },
    ],
    ['{"jsonrpc":"2.0","id":7}', { kind: 'invalid', id: '7', error: { code: -32600 } }],
    ['3', { kind: 'invalid', id: 'null', error: { code: -32600 } }],
    ['[]', { kind: 'invalid', id: 'null', error: { code: -32600 } }],
    ['{"jsonrpc"', { kind: 'invalid', id: 'null', error: { code: -32700 } }],
  ])('%s is classified', (text, expected) => {
    expect(read(text)).toMatchObject(expected);
  });

  it('keeps every digit of a numeric id: alone, in a batch and in a cancel', () => {
    const id = '1763276400123456789';
    const request = `{ "params": {"id": 5}, "id" : ${id} , "jsonrpc":"2.0","method":"m" }`;
    expect(read(request)).toMatchObject({ id });
    expect(read(`[3, ${request},${request}]`)).toMatchObject([{ kind: 'invalid' }, { id }, { id }]);
    expect(read(`{"jsonrpc":"2.0","method":"$/cancel","params":{"id":${id}}}`)).toEqual({
      kind: 'cancel',
      target: id,
      wantsReply: true,
    });
    const mcp = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
    expect(read(mcp)).toEqual({ kind: 'cancel', target: id, wantsReply: false });
  });

  it('a batch of 10,000 large ids is read in linear time; a longer batch is refused', () => {
    const message = '{"jsonrpc":"2.0","id":1763276400123456789,"method":"m"}';
    const batch = `[${Array(MAX_BATCH).fill(message).join(',')}]`;
    const startedAt = performance.now();
    expect(read(batch)).toHaveLength(MAX_BATCH);
    expect(performance.now() - startedAt).toBeLessThan(4000);
    expect(read(`[${batch.slice(1, -1)},1]`)).toMatchObject({ kind: 'invalid', error: { code: -32600 } });
  });

  it('that is not UTF-8 is one parse error (S8)', () => {
    const line = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","method":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    expect(readLine(line)).toMatchObject({ kind: 'invalid', error: { code: -32700 } });
  });

  it('that is nested too deeply is refused before it is parsed (S8)', () => {
    const nested = (depth: number) =>
      `{"jsonrpc":"2.0","method":"m","params":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(read(nested(MAX_DEPTH))).toMatchObject({ kind: 'notification' });
    expect(read(nested(MAX_DEPTH + 1))).toMatchObject({ kind: 'invalid', error: { code: -32600 } });
    const before = process.memoryUsage().rss;
    expect(read('['.repeat(8_000_000))).toMatchObject({ kind: 'invalid' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
  });
});

describe('the source text of a value', () => {
  const json = fc.jsonValue({ maxDepth: 4 });

  it('is found for any members and elements, with any white space', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.boolean(), (record, isSpaced) => {
        const text = isSpaced ? spaced(record) : JSON.stringify(record);
        for (const [name, value] of Object.entries(JSON.parse(text) as object)) {
          expect(JSON.parse(memberSource(text, name) ?? '')).toEqual(value);
        }
        expect(memberSource(text, 'no such name, surely')).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.array(json), fc.boolean(), (list, isSpaced) => {
        const text = isSpaced ? spaced(list) : JSON.stringify(list);
        expect(elementSources(text).map((source) => JSON.parse(source))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is the last of two members with one name, as in JSON.parse', () => {
    expect(memberSource('{"id":1,"id":2}', 'id')).toBe('2');
  });

  it('isDeeperThan counts the depth of any value, also with brackets in strings', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const text = fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', ']') });
    fc.assert(
      fc.property(fc.anything({ key: text, values: [text, fc.integer()], maxDepth: 4 }), (value) => {
        const bytes = Buffer.from(spaced(value) ?? '0');
        const depth = depthOf(JSON.parse(bytes.toString()));
        expect(isDeeperThan(depth, bytes)).toBe(false);
        if (depth > 0) expect(isDeeperThan(depth - 1, bytes)).toBe(true);
      }),
    );
  });
});
