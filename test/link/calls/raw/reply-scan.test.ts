import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH } from '../../../../src/link/calls/raw/json-scan.js';
import { type RawReply, ReplyScan } from '../../../../src/link/calls/raw/reply-scan.js';

const ID = 2 ** 30 + 7;

function scan(bytes: Buffer, cuts: readonly number[] = []): RawReply | undefined {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces = [0, ...places].map((start, at) => bytes.subarray(start, places[at] ?? bytes.length));
  const reading = new ReplyScan();
  for (const piece of pieces) reading.push(piece);
  return reading.end(pieces);
}

const read = (text: string, cuts?: readonly number[]) => scan(Buffer.from(text), cuts);
const passed = (reply: RawReply | undefined) => reply && Buffer.concat(reply.result.pieces).toString();

/** JSON in every spelling: escapes of all kinds, odd numbers, spaces where they may be. */
const space = fc.stringMatching(/^[ \t]{0,2}$/);
const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,3})(\.\d{1,3})?([eE][+-]?\d{1,2})?$/),
  fc.constant('18446744073709551617'),
);
const string = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.stringMatching(/^"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){0,12}"$/),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
    fc
      .tuple(fc.array(fc.tuple(string, tie('value')), { maxLength: 4 }), space)
      .map(
        ([members, gap]) =>
          `{${gap}${members.map(([key, of]) => `${key}${gap}:${of}`).join(`,${gap}`)}${gap}}`,
      ),
  ),
}));
const object = fc
  .array(fc.tuple(string, value), { maxLength: 4 })
  .map((members) => `{${members.map(([key, of]) => `${key}:${of}`).join(',')}}`);
const cuts = fc.array(fc.nat(), { maxLength: 6 });

const reply = fc
  .tuple(object, fc.array(space, { minLength: 14, maxLength: 14 }), fc.nat(5), fc.constantFrom('', '\r'))
  .map(([result, gaps, order, end]) => {
    const members = [
      `"jsonrpc"${gaps[0]}:${gaps[1]}"2.0"`,
      `"id"${gaps[2]}:${gaps[3]}${ID}`,
      `"result"${gaps[4]}:${gaps[5]}${result}`,
    ];
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    const text = orders[order]!.map((at, place) => `${gaps[6 + place]}${members[at]}${gaps[9 + place]}`).join(
      ',',
    );
    return { text: `${gaps[12]}{${text}}${gaps[13]}${end}`, result };
  });

describe('the scan of a reply', () => {
  it('accepts every plain reply, in any order and any split, and its result byte for byte (U8)', () => {
    fc.assert(
      fc.property(reply, cuts, ({ text, result }, at) => {
        const found = read(text, at);
        expect(found?.id).toBe(ID);
        expect(passed(found)?.trimEnd()).toBe(result);
      }),
      { numRuns: 2000, seed: 8 },
    );
  });

  it('accepts nothing that JSON.parse would refuse or read differently, for any change of the bytes (U8)', () => {
    let taken = 0;
    const change = fc.record({
      at: fc.nat(),
      drop: fc.nat(3),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 3 }),
        fc
          .constantFrom(
            ...[
              '"',
              '\\',
              '{',
              '}',
              '[',
              ']',
              ',',
              ':',
              '0',
              '-',
              '.',
              'e',
              'u',
              '\n',
              '\r',
              '"id":5,',
              'é',
              't',
            ],
          )
          .map((text) => Buffer.from(text)),
      ),
    });
    fc.assert(
      fc.property(reply, fc.array(change, { minLength: 1, maxLength: 3 }), cuts, ({ text }, changes, at) => {
        let bytes = Buffer.from(text);
        for (const { at: where, drop, insert } of changes) {
          const place = where % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + drop)]);
        }
        const found = scan(bytes, at);
        expect(passed(scan(bytes))).toBe(passed(found));
        if (found === undefined) return;
        taken += 1;
        expect(isUtf8(bytes)).toBe(true);
        const parsed = JSON.parse(bytes.toString()) as Record<string, unknown>;
        expect(Object.keys(parsed).sort()).toEqual(['id', 'jsonrpc', 'result']);
        expect(parsed).toMatchObject({ jsonrpc: '2.0', id: found.id });
        expect(found.result.parse()).toEqual(parsed.result);
        expect(passed(found)).not.toMatch(/[\r\n]/);
      }),
      { numRuns: 10_000, seed: 80 },
    );
    expect(taken).toBeGreaterThan(200);
  });

  it('finds isError in every spelling and position', () => {
    const filler = fc.tuple(string, value).map(([key, of]) => `${key}:${of}`);
    const key = fc.constantFrom(
      '"isError"',
      '"is\\u0045rror"',
      '"\\u0069sErro\\u0072"',
      '"iserror"',
      '"isErrors"',
    );
    const verdict = fc
      .tuple(
        key,
        space,
        space,
        fc.constantFrom('true', 'false', 'null', '1', '"true"', '[true]', '{"isError":true}'),
      )
      .map(([name, before, behind, of]) => `${name}${before}:${behind}${of}`);
    const members = fc.array(fc.oneof(filler, verdict, fc.constant('"inner":{"isError":true}')), {
      maxLength: 6,
    });
    let failures = 0;
    fc.assert(
      fc.property(members, cuts, (all, at) => {
        const result = `{${all.join(',')}}`;
        const { isError } = JSON.parse(result) as { isError?: unknown };
        expect(read(`{"jsonrpc":"2.0","id":${ID},"result":${result}}`, at)?.isError).toBe(isError === true);
        if (isError === true) failures += 1;
      }),
      { numRuns: 2000, seed: 88 },
    );
    expect(failures).toBeGreaterThan(100);
  });

  it('does not know isError where a result has too many members', () => {
    const crowd = Array.from({ length: 65 }, (_, at) => `"k${at}":1`).join(',');
    expect(read(`{"jsonrpc":"2.0","id":${ID},"result":{${crowd},"isError":true}}`)?.isError).toBeUndefined();
  });

  it('accepts the values that JSON.parse accepts', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '0',
      '.5',
      'e',
      '+1',
      'true',
      'nul',
      'l',
      ' ',
      '\\',
      '\\n',
      '\\u00',
      '4f',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), cuts, (tokens, at) => {
        const result = `{"k":${tokens.join('')}}`;
        const text = `{"jsonrpc":"2.0","id":${ID},"result":${result}}`;
        let isValid = true;
        try {
          isValid = Object.keys(JSON.parse(text) as object).length === 3;
        } catch {
          isValid = false;
        }
        expect(read(text, at) !== undefined).toBe(isValid);
      }),
      { numRuns: 10_000, seed: 800 },
    );
  });

  const plain = `"jsonrpc":"2.0","id":${ID},"result":{}`;
  it.each([
    ['two ids', `{${plain},"id":5}`],
    ['two ids, one of them escaped', `{${plain},"\\u0069d":5}`],
    ['the same id twice, and no version', `{"id":${ID},"id":${ID},"result":{}}`],
    ['an escaped key', `{"jsonrpc":"2.0","i\\u0064":${ID},"result":{}}`],
    ['two results', `{${plain},"result":{}}`],
    ['a method beside the result', `{${plain},"method":"ping"}`],
    ['a method in place of the version', `{"method":"ping","id":${ID},"result":{}}`],
    ['an error', `{"jsonrpc":"2.0","id":${ID},"error":{"code":1,"message":"no"}}`],
    ['anything else beside it', `{${plain},"_meta":{}}`],
    ['an id that is a string', `{"jsonrpc":"2.0","id":"${ID}","result":{}}`],
    ['an id of 64 bits', '{"jsonrpc":"2.0","id":18446744073709551617,"result":{}}'],
    ['an id that is no integer', `{"jsonrpc":"2.0","id":${ID}.0,"result":{}}`],
    ['a negative id', `{"jsonrpc":"2.0","id":-${ID},"result":{}}`],
    ['no id', '{"jsonrpc":"2.0","result":{}}'],
    ['another version', `{"jsonrpc":"2.1","id":${ID},"result":{}}`],
    ['a result that is no object', `{"jsonrpc":"2.0","id":${ID},"result":[{}]}`],
    ['a batch', `[{${plain}}]`],
    ['a byte order mark', `\ufeff{${plain}}`],
    ['a line break between values', `{"jsonrpc":"2.0","id":${ID},"result":{"a":\n1}}`],
    ['noise behind it', `{${plain}} x`],
    ['a second message behind it', `{${plain}}{${plain}}`],
    ['half of it', `{"jsonrpc":"2.0","id":${ID},"result":{"a":1}`],
    ['nothing', ''],
  ])('declines %s (U8)', (_, text) => {
    expect(read(text)).toBeUndefined();
    expect(read(text, [3, 11, 19, 20, 21, 40])).toBeUndefined();
  });

  it('declines a message that is nested too deeply', () => {
    const nested = (levels: number) =>
      `{"jsonrpc":"2.0","id":${ID},"result":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(read(nested(MAX_DEPTH - 2))).toBeDefined();
    expect(read(nested(MAX_DEPTH - 1))).toBeUndefined();
  });

  it.each([
    ['a lone continuation', [0x80]],
    ['a character without its end', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a byte that is never one', [0xff]],
  ])('declines invalid UTF-8 at any split: %s (U8)', (_, bad) => {
    const [head, tail] = [`{"jsonrpc":"2.0","id":${ID},"result":{"a":"`, '"}}'];
    const line = Buffer.concat([Buffer.from(head), Buffer.from(bad), Buffer.from(tail)]);
    for (let at = head.length; at <= head.length + bad.length; at += 1) {
      expect(scan(line, [at]), `cut at ${at}`).toBeUndefined();
    }
    expect(scan(line, Array.from(line.keys()))).toBeUndefined();
  });

  it('accepts characters of every length that are split', () => {
    const text = `{"jsonrpc":"2.0","id":${ID},"result":{"ß€😀":"😀€ß"}}`;
    const bytes = Buffer.from(text);
    for (const at of bytes.keys()) expect(passed(scan(bytes, [at]))).toBe('{"ß€😀":"😀€ß"}');
    expect(passed(scan(bytes, Array.from(bytes.keys())))).toBe('{"ß€😀":"😀€ß"}');
  });
});
