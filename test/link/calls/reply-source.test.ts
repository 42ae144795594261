import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayRepeatId, resultSource, topLevelIds } from '../../../src/link/calls/reply-source.js';

const idsIn = (text: string) => topLevelIds(Buffer.from(text));

/** Whatever JSON has, in texts that look like structure. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...'"\\id:,{}[] é') }),
);
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.constantFrom(null, true, false, 1.5e-7, 'id'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constant('id'), text), tie('any'), { maxKeys: 4 }),
  ),
})).any;

/** One member of an object as it may be written: spaces, and a key that is spelt in its own way. */
const space = fc.string({ unit: fc.constantFrom(...' \t\r\n'), maxLength: 3 });
const member = fc
  .record({
    key: fc.oneof(
      fc.constantFrom('"id"', '"\\u0069d"', '"i\\u0064"'),
      text.map((key) => JSON.stringify(key)),
    ),
    value: fc.oneof(fc.integer(), text, value),
    spaces: fc.tuple(space, space, space, space),
  })
  .map(({ key, value, spaces: [a, b, c, d] }) => ({
    key: JSON.parse(key) as string,
    value,
    text: `${a}${key}${b}:${c}${JSON.stringify(value)}${d}`,
  }));

describe('topLevelIds', () => {
  it('finds every value under that key, in order, in every spelling, beside any other member', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const object = `{${members.map(({ text }) => text).join(',')}}`;
        const ids = members
          .filter(({ key }) => key === 'id')
          .map(({ value }) => (['number', 'string'].includes(typeof value) ? value : undefined));
        expect(idsIn(object)).toEqual(ids);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['after a text that is empty', '{"":"","id":1}', [1]],
    ['after a text that ends with a quote', '{"a":"\\"","id":1}', [1]],
    ['after a text that ends with a backslash', '{"a":"\\\\","id":1}', [1]],
    ['after a text that ends with a backslash and a quote', '{"a":"\\\\\\"","id":1}', [1]],
    ['after braces in a text', '{"a":"}]{[","id":1}', [1]],
    ['after a list of lists', '{"a":[["id"],{"id":2}],"id":1}', [1]],
    ['with spaces around the colon', '{"id" \t\r\n: 1 }', [1]],
    ['but not where it is a value', '{"a":"id","b":["id"],"c":"id" }', []],
    ['but not below the top', '{"a":{"id":1},"b":[{"id":2,"id":3}]}', []],
    ['even when it can be no id', '{"id":null,"id":{"id":1},"id":[2]}', [undefined, undefined, undefined]],
  ])('finds ids %s', (_, object, ids) => {
    expect(idsIn(object)).toEqual(ids);
  });
});

describe('mayRepeatId', () => {
  const looks = (object: string) => mayRepeatId(object);

  it('suspects every object that has two ids', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const object = `{${members.map(({ text }) => text).join(',')}}`;
        if (members.filter(({ key }) => key === 'id').length > 1) expect(looks(object)).toBe(true);
      }),
    );
  });

  it('suspects no reply with one id in the orders that servers write', () => {
    expect(looks('{"jsonrpc":"2.0","id":7,"result":{"content":[]}}')).toBe(false);
    expect(looks('{"result":{"content":[]},"jsonrpc":"2.0","id":7}')).toBe(false);
    expect(looks('{"id":7,"result":{}}')).toBe(false);
    expect(looks('{"jsonrpc":"2.0","method":"notifications/message"}')).toBe(false);
  });
});

const cut = (line: string) => resultSource(line, JSON.parse(line));

describe('resultSource', () => {
  it.each(['{}', '{"n":12345678901234567890,"e":1e400}', '{ "a" : [1,{"id":2}] }', '{"a":"\\u0000}"}'])(
    'cuts the result out unchanged: %s',
    (result) => {
      expect(cut(`{"jsonrpc":"2.0","id":7,"result":${result}}`)).toBe(result);
      expect(cut(`{"result":${result},"jsonrpc":"2.0","id":7}`)).toBe(result);
    },
  );

  it.each([
    ['another order', '{"id":7,"jsonrpc":"2.0","result":{}}'],
    ['spaces', '{"jsonrpc": "2.0", "id": 7, "result": {}}'],
    ['text after it', '{"jsonrpc":"2.0","id":7,"result":{}} '],
    ['a line break', '{"jsonrpc":"2.0","id":7,"result":{\n}}'],
    [
      'a carriage return, which many parsers take for one',
      '{"jsonrpc":"2.0","id":7,"result":{"a":\r{"jsonrpc":"2.0"}\r}}',
    ],
    ['one member more', '{"jsonrpc":"2.0","id":7,"result":{},"x":{}}'],
    ['one member more in front', '{"result":{},"x":1,"jsonrpc":"2.0","id":7}'],
    ['an id in another spelling', '{"jsonrpc":"2.0","id":7.0,"result":{}}'],
  ])('finds nothing in a line with %s', (_, line) => {
    expect(cut(line)).toBeUndefined();
  });
});
