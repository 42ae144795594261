import { describe, expect, it } from 'vitest';
import { resultSource } from '../../../src/link/session/result-source.js';

const cut = (line: string) => resultSource(line, JSON.parse(line));

describe('the result of a reply', () => {
  it.each(['{}', '{"n":12345678901234567890,"e":1e400}', '{ "a" : [1,{"id":2}] }', '{"a":"\\u0000}"}'])(
    'is cut out as it came: %s',
    (result) => {
      expect(cut(`{"jsonrpc":"2.0","id":7,"result":${result}}`)).toBe(result);
      expect(cut(`{"result":${result},"jsonrpc":"2.0","id":7}`)).toBe(result);
    },
  );

  it.each([
    ['another order', '{"id":7,"jsonrpc":"2.0","result":{}}'],
    ['spaces', '{"jsonrpc": "2.0", "id": 7, "result": {}}'],
    ['something behind it', '{"jsonrpc":"2.0","id":7,"result":{}} '],
    ['a line break', '{"jsonrpc":"2.0","id":7,"result":{\n}}'],
    ['what many take for one', '{"jsonrpc":"2.0","id":7,"result":{"a":\r{"jsonrpc":"2.0"}\r}}'],
    ['a member more', '{"jsonrpc":"2.0","id":7,"result":{},"x":{}}'],
    ['a member more in front', '{"result":{},"x":1,"jsonrpc":"2.0","id":7}'],
    ['an id that is written in another way', '{"jsonrpc":"2.0","id":7.0,"result":{}}'],
  ])('is left where it is in a line with %s', (_, line) => {
    expect(cut(line)).toBeUndefined();
  });
});
