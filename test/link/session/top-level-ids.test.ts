import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayRepeatId, topLevelIds } from '../../../src/link/session/top-level-ids.js';

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

describe('the ids at the top of an object', () => {
  it('are all there is under that key, in order, however they are written and whatever else there is', () => {
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
    ['behind a text that is empty', '{"":"","id":1}', [1]],
    ['behind a text that ends with a quote', '{"a":"\\"","id":1}', [1]],
    ['behind a text that ends with a backslash', '{"a":"\\\\","id":1}', [1]],
    ['behind a text that ends with a backslash and a quote', '{"a":"\\\\\\"","id":1}', [1]],
    ['behind braces in a text', '{"a":"}]{[","id":1}', [1]],
    ['behind a list of lists', '{"a":[["id"],{"id":2}],"id":1}', [1]],
    ['with spaces around the colon', '{"id" \t\r\n: 1 }', [1]],
    ['but not where it is a value', '{"a":"id","b":["id"],"c":"id" }', []],
    ['but not below the top', '{"a":{"id":1},"b":[{"id":2,"id":3}]}', []],
    ['even when it can be no id', '{"id":null,"id":{"id":1},"id":[2]}', [undefined, undefined, undefined]],
  ])('are found %s', (_, object, ids) => {
    expect(idsIn(object)).toEqual(ids);
  });
});

describe('a look at the bytes', () => {
  const looks = (object: string) => mayRepeatId(object);

  it('suspects every object that has two ids', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const object = `{${members.map(({ text }) => text).join(',')}}`;
        if (members.filter(({ key }) => key === 'id').length > 1) expect(looks(object)).toBe(true);
      }),
    );
  });

  it('suspects no reply as servers write them, wherever its one id is', () => {
    expect(looks('{"jsonrpc":"2.0","id":7,"result":{"content":[]}}')).toBe(false);
    expect(looks('{"result":{"content":[]},"jsonrpc":"2.0","id":7}')).toBe(false);
    expect(looks('{"id":7,"result":{}}')).toBe(false);
    expect(looks('{"jsonrpc":"2.0","method":"notifications/message"}')).toBe(false);
  });
});
