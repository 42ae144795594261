import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { assertOneEntryChanged } from '../../../src/config/edit/assert-one-entry-changed.js';
import {
  addEntry,
  applyEdit,
  findEntries,
  invertEdit,
  type ListKey,
  removeEntry,
} from '../../../src/config/edit/index.js';

/** Ways to write an item. `%` is replaced by its number; a comment with `of %` is part of the item. */
const BLOCK_ITEMS = [
  ['name: n%'],
  ['"name": \'n%\' # §% of %', 'type: mcp'],
  ['name: n%', '# §% of %', 'env:', '   A: ${A}', '   B: "x # y"', '# §%b of %'],
  ['name: n%', 'args:', '- a', '- - b', '  - c', 'empty:'],
  ['name: n%', '', 'text: |', '  # text', '', '  - text'],
  ['name: n%', 'text: >+', '  text', '', ''],
  ['name: n%', 'text: >-'],
  ['name: n%', 'text: |', '', 'more: 1', 'end: >'],
  ['{name: n%, args: [a, "b]"]} # §% of %'],
  ['{name: n%, # §% of %', '  b: c}'],
  ['"quoted', '', '  n%"'],
  ['|-', '  n%', '  # text'],
  ['plain n%'],
  ['&a% n%'],
  ['!!str n%'],
];
const FLOW_ITEMS = ['{name: n%}', '{ "name": "n%", args: [a, "]"] }', 'n%', '"n%, ["', 'n%: x', "'n%'"];

interface Generated {
  text: string;
  key: ListKey;
  comments: string[];
  count: number;
}

const comment = fc.constantFrom('', '', '', 'comment', 'blank', 'blank and comment');

const common = fc.record({
  key: fc.constantFrom<ListKey>('tools', 'mcp_servers'),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\uFEFF'),
  head: fc.constantFrom('', '# §head\n', '---\n', 'a: 1 # §head\n\n', 'a:\n   b:\n   - c\n# §head\n'),
  keyComment: fc.constantFrom('', ' # §key', '   # §key'),
  tail: fc.constantFrom(
    '',
    '\n',
    '\n\n',
    '# §tail\n',
    '\n# §tail\nz: 1\n',
    'z: [1] # §tail',
    '...\n# §tail\n',
  ),
  closed: fc.boolean(),
});

const blockDocument = fc
  .record({
    common,
    props: fc.constantFrom('', ' &list', ' !!seq'),
    column: fc.nat({ max: 4 }),
    width: fc.integer({ min: 2, max: 5 }),
    items: fc.array(fc.tuple(fc.constantFrom(...BLOCK_ITEMS), comment), { minLength: 1, maxLength: 4 }),
    last: comment,
  })
  .map(({ common, props, column, width, items, last }) => {
    const indent = ' '.repeat(column);
    const lines = items.flatMap(([item, above], index) => [
      ...gap(above, indent, index),
      ...item.map((line, at) => {
        const text = line.replaceAll('%', String(index));
        if (text === '') return '';
        return indent + (at === 0 ? `-${' '.repeat(width - 1)}` : ' '.repeat(width)) + text;
      }),
    ]);
    lines.push(...gap(last, indent, items.length).filter((line) => line !== ''));
    return assemble(common, `${common.key}:${props}`, `${lines.join('\n')}\n`, items.length);
  });

const flowDocument = fc
  .record({
    common,
    open: fc.constantFrom('[', '[ ', '[\n', '[ # §open\n'),
    items: fc.array(
      fc.tuple(fc.constantFrom(...FLOW_ITEMS), fc.constantFrom(', ', ',\n', ', # §% of %\n', '\n  , ')),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    close: fc.constantFrom(']', ' ]', ',]', '\n  ]', ',\n  ]', ' # §close of %\n  ]', ', # §close of %\n  ]'),
  })
  .map(({ common, open, items, close }) => {
    const parts = items.map(([item, comma], index) => {
      const isLast = index === items.length - 1;
      return (item + (isLast ? '' : comma)).replaceAll('%', String(index));
    });
    const list = (open + parts.join('') + close.replace('%', String(items.length - 1))).replaceAll(
      '\n',
      '\n    ',
    );
    return assemble(
      { ...common, keyComment: '' },
      `${common.key}: ${list}${common.keyComment}`,
      '',
      items.length,
    );
  });

function gap(kind: string, indent: string, index: number): string[] {
  return [
    ...(kind.includes('blank') ? [''] : []),
    ...(kind.includes('comment') ? [`${indent}# §above${index}`] : []),
  ];
}

function assemble(
  parts: typeof common extends fc.Arbitrary<infer Parts> ? Parts : never,
  key: string,
  list: string,
  count: number,
): Generated {
  const source = `${parts.head}${key}${parts.keyComment}\n${list}${parts.tail}`;
  const closed = parts.closed ? source : source.replace(/\n$/, '');
  const text = parts.mark + closed.replaceAll('\n', parts.lineBreak);
  return { text, key: parts.key, comments: commentsOf(text), count };
}

const commentsOf = (text: string) => text.match(/# §[^\r\n]*/g) ?? [];
const entry = fc.record(
  {
    name: fc.string({ minLength: 1 }),
    args: fc.array(fc.string()),
    env: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
  },
  { requiredKeys: ['name'] },
);
const anyDocument = fc.oneof(blockDocument, flowDocument);
/** The same documents on every run. Another seed or more runs test more of them. */
const RUNS = { numRuns: 150, seed: 1 };

test('the generated documents have the properties that the tests below assume', () => {
  fc.assert(
    fc.property(anyDocument, ({ text, key, count }) => {
      expect(findEntries(text, key)).toHaveLength(count);
    }),
    RUNS,
  );
});

test('an added entry is read back as it was, last in the list, and nothing else changes', () => {
  fc.assert(
    fc.property(anyDocument, entry, ({ text, key, comments }, added) => {
      const after = applyEdit(text, addEntry(text, key, added));
      const before = parse(text);
      expect(parse(after)).toEqual({ ...before, [key]: [...before[key], added] });
      expect(commentsOf(after).filter((found) => comments.includes(found))).toEqual(comments);
      assertOneEntryChanged(text, after);
    }),
    RUNS,
  );
});

test('adding and removing again gives the same bytes, and so does undoing', () => {
  fc.assert(
    fc.property(anyDocument, entry, ({ text, key, count }, added) => {
      const edit = addEntry(text, key, added);
      const after = applyEdit(text, edit);
      expect(applyEdit(after, removeEntry(after, key, count))).toBe(text);
      expect(applyEdit(after, invertEdit(text, edit))).toBe(text);
    }),
    RUNS,
  );
});

test('removing an item leaves the others and every comment outside it', () => {
  fc.assert(
    fc.property(anyDocument, fc.nat(), ({ text, key, count, comments }, number) => {
      const index = number % count;
      const edit = removeEntry(text, key, index);
      const after = applyEdit(text, edit);
      const before = parse(text);
      expect(parse(after)).toEqual({ ...before, [key]: before[key].toSpliced(index, 1) });
      const own = new RegExp(` of ${index}$`);
      expect(commentsOf(after).filter((found) => !own.test(found))).toEqual(
        comments.filter((found) => !own.test(found)),
      );
      expect(applyEdit(after, invertEdit(text, edit))).toBe(text);
      assertOneEntryChanged(text, after);
    }),
    RUNS,
  );
});
