import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../src/link/calls/message.js';
import { replyIds, topLevelIds } from '../../../src/link/calls/reply-source.js';

const read = (text: string) => readMessage(Buffer.from(text));

describe('a line from a server', () => {
  it('is a result, an error, a request, a notification or a batch', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"result":{}}')).toMatchObject({ kind: 'result', id: 1 });
    expect(read('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}')).toMatchObject({
      kind: 'error',
      error: { code: -1, message: 'no' },
    });
    expect(read('{"jsonrpc":"2.0","id":"a","method":"ping"}')).toMatchObject({ kind: 'request', id: 'a' });
    expect(read('{"jsonrpc":"2.0","method":"x","params":{"a":1}}')).toMatchObject({
      kind: 'notification',
      params: { a: 1 },
    });
    expect(read('[{"jsonrpc":"2.0","id":1,"result":{}}]')).toMatchObject({ messages: [{ kind: 'result' }] });
  });

  it('may begin with a byte order mark', () => {
    expect(read('\ufeff{"jsonrpc":"2.0","id":1,"result":{}}')).toMatchObject({ kind: 'result' });
  });

  // each shares bytes with the mark
  it.each(['\uff58', '\ufec0', '\u0eff', '\u0fff'])('may begin with no other character: %j (U2)', (first) => {
    const broken = { kind: 'broken', why: 'not JSON', ids: [1] };
    expect(read(`${first}{"jsonrpc":"2.0","id":1,"result":{}}`)).toEqual(broken);
  });

  it.each([
    ['hello', 'not JSON', []],
    ['42', 'not a JSON-RPC message', []],
    ['null', 'not a JSON-RPC message', []],
    ['{"level":30}', 'not a JSON-RPC 2.0 message', []],
    ['{"id":7,"result":{}}', 'not a JSON-RPC 2.0 message', [7]],
    ['{"id":null,"result":{}}', 'not a JSON-RPC 2.0 message', []],
    ['{"jsonrpc":"2.0"}', 'not a JSON-RPC message', []],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}', 'a reply without a usable id', []],
    ['{"jsonrpc":"2.0","id":1.5,"result":{}}', 'a reply without a usable id', []],
    ['{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}', 'both result and error', [7]],
    ['{"jsonrpc":"2.0","id":7,"method":"x","result":{}}', 'both a method and a result', [7]],
    ['{"jsonrpc":"2.0","id":7,"result":null}', 'neither a result object nor an error', [7]],
    ['{"jsonrpc":"2.0","id":7}', 'neither a result object nor an error', [7]],
    ['{"jsonrpc":"2.0","id":7,"error":{"code":"1","message":"x"}}', 'an error of the wrong shape', [7]],
    ['{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"x"}}', 'an error of the wrong shape', [7]],
    ['{"jsonrpc":"2.0","id":7,"error":{"code":1}}', 'an error of the wrong shape', [7]],
    ['{"jsonrpc":"2.0","id":7,"method":7}', 'a method that is no string', []],
    ['{"jsonrpc":"2.0","id":true,"method":"x"}', 'x without a usable id', []],
    ['{"jsonrpc":"2.0","method":"x","params":[1]}', 'x with params that are no object', []],
    ['{"jsonrpc":"2.0","id":7,"id":8,"result":{}}', 'more than one id', [7, 8]],
    ['{"jsonrpc":"2.0","id":7,"\\u0069d":8,"result":{}}', 'more than one id', [7, 8]],
    ['{"jsonrpc":"2.0","id":7,"i\\u0064":8,"result":{}}', 'more than one id', [7, 8]],
  ])('%s is broken: %s (U8)', (text, why, ids) => {
    expect(read(text)).toEqual({ kind: 'broken', why, ids });
  });

  it('a line with invalid UTF-8 is broken, and keeps the id of its reply (U8)', () => {
    const [before, after] = '{"jsonrpc":"2.0","id":7,"result":{"a":"X"}}'.split('X');
    const bytes = Buffer.concat([
      Buffer.from(before ?? ''),
      Buffer.from([0xc3, 0x28]),
      Buffer.from(after ?? ''),
    ]);
    expect(readMessage(bytes)).toEqual({ kind: 'broken', why: 'not valid UTF-8', ids: [7] });
  });

  it('may hold other ids below its top level', () => {
    const text = '{"result":{"id":5,"list":[{"id":6}],"text":"\\"id\\":9 \\\\"},"jsonrpc":"2.0","id":7}';
    expect(read(text)).toMatchObject({ kind: 'result', id: 7 });
    expect(topLevelIds(Buffer.from(text))).toEqual([7]);
  });

  it('keeps every unknown field of a result', () => {
    const result = { content: [{ type: 'hologram', __proto__x: 1 }], _meta: { a: [1] }, more: null };
    expect(read(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))).toMatchObject({ result });
  });
});

describe('ids in a line that cannot be parsed', () => {
  const ids = (text: string) =>
    replyIds(Buffer.from(text).subarray(0, 4096), Buffer.from(text).subarray(-4096));
  const filler = 'x'.repeat(10_000);

  it('are found in front and at the end (U3)', () => {
    expect(ids(`{"jsonrpc":"2.0","id":7,"result":{"text":"${filler}"}}`)).toEqual([7]);
    expect(ids(`{"id":7,"jsonrpc":"2.0","result":{"text":"${filler}"}}`)).toEqual([7]);
    expect(ids(`{ "id" : 7 , "error" : {"message":"${filler}"}}`)).toEqual([7]);
    expect(ids(`{"result":{"text":"${filler}"},"jsonrpc":"2.0","id":7}`)).toEqual([7]);
    expect(ids(`{"jsonrpc":"2.0","result":{"text":"${filler}"},"id":7}`)).toEqual([7]);
    expect(ids(`{"result":{"text":"${filler}"},"id":7,"jsonrpc":"2.0"}`)).toEqual([7]);
  });

  it('are found after noise, and in both of two replies without a newline between them (U2)', () => {
    expect(ids('Loading...{"jsonrpc":"2.0","id":7,"result":{}}')).toEqual([7]);
    expect(ids('{"jsonrpc":"2.0","id":7,"result":{}}{"jsonrpc":"2.0","id":8,"result":{}}')).toEqual([7, 8]);
  });

  it('are not those of a request that the server echoes, nor those inside of a result', () => {
    expect(ids('got {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}')).toEqual([]);
    expect(ids('got {"method":"tools/call","params":{},"jsonrpc":"2.0","id":7}')).toEqual([]);
    expect(ids(`{"jsonrpc":"2.0","result":{"text":"${filler}","id":7}}`)).toEqual([]);
  });
});
