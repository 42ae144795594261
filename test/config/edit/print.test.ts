import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { detectIndentation } from '../../../src/config/edit/indentation.js';
import { printFlow, printItem } from '../../../src/config/edit/print.js';

const USUAL = detectIndentation('', []);

const block = (value: unknown) => printItem(value, 2, USUAL);

describe('strings are quoted only when YAML needs it', () => {
  test.each([
    ['plain', 'plain'],
    ['@scope/name', '"@scope/name"'],
    ['${TOKEN}', '${TOKEN}'],
    ['https://x.test/a?b=c#d', 'https://x.test/a?b=c#d'],
    ['a: b', '"a: b"'],
    ['1.0', '"1.0"'],
    ['', '""'],
    ['null', '"null"'],
    ['say "x"', 'say "x"'],
    ['a\nb', '"a\\nb"'],
    ['a\r\nb', '"a\\r\\nb"'],
    ['a\u2028b', '"a\\u2028b"'],
    ['x\u00a0', 'x\u00a0'],
  ])('%j', (value, printed) => {
    expect(block({ k: value })).toEqual([`  - k: ${printed}`]);
  });

  test('a string that YAML 1.1 parsers would read as another type is quoted too', () => {
    expect(block({ a: 'yes', b: 'off', c: '12:30', d: '2025-11-25', e: '0o7' })).toEqual([
      '  - a: "yes"',
      '    b: "off"',
      '    c: "12:30"',
      '    d: "2025-11-25"',
      '    e: "0o7"',
    ]);
  });

  test('a long string stays on its line', () => {
    const long = 'word '.repeat(100).trimEnd();
    expect(block({ k: long })).toEqual([`  - k: ${long}`]);
    expect(block({ k: `${long}\n${long}` })).toEqual([`  - k: "${long}\\n${long}"`]);
  });
});

test('a comma or a bracket needs quotes in a flow collection only', () => {
  expect(block({ 'a,[b]': 'c,{d}' })).toEqual(['  - a,[b]: c,{d}']);
  expect(printFlow({ 'a,[b]': 'c,{d}' }, { json: false, padding: false })).toBe('{"a,[b]": "c,{d}"}');
});

test('collections nest, empty ones are written out, undefined is left out', () => {
  const shared = ['x'];
  expect(block({ a: [], b: {}, c: [[1, true], { d: null }], e: undefined, f: shared, g: shared })).toEqual([
    '  - a: []',
    '    b: {}',
    '    c:',
    '      - - 1',
    '        - true',
    '      - d: null',
    '    f:',
    '      - x',
    '    g:',
    '      - x',
  ]);
  expect(block({})).toEqual(['  - {}']);
});

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      ...'#:-?[]{},&*!|>\'"%@`=<~.0 \t\n\r\u0085\u00a0\u2028\u2029\uFEFF\u0000\u007f\\$é😀',
    ),
  }),
  fc.constantFrom('yes', '~', '0x1', '1e3', '.inf', '<<', '---', '...', '- a', '? a', 'a #b', '__proto__'),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    // JSON has no -0.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

test('every printed value is read back unchanged, and takes whole lines', () => {
  fc.assert(
    fc.property(
      fc.dictionary(text, json, { maxKeys: 4, noNullPrototype: true }),
      fc.boolean(),
      fc.boolean(),
      (entry, jsonStyle, padding) => {
        const lines = block(entry);
        expect(lines.every((line) => !/[\r\n]/.test(line))).toBe(true);
        expect(parse(`k:\n${lines.join('\r\n')}\r\n`)).toStrictEqual({ k: [entry] });
        const flow = printFlow(entry, { json: jsonStyle, padding });
        expect(flow).not.toMatch(/[\r\n]/);
        expect(parse(`[${flow}]`)).toStrictEqual([entry]);
        if (jsonStyle) expect(JSON.parse(flow)).toEqual(entry);
      },
    ),
    { numRuns: 200, seed: 1 },
  );
});
