import { describe, expect, test } from 'vitest';
import { assertOneEntryChanged } from '../../../src/config/edit/assert-one-entry-changed.js';
import { addEntry, applyEdit, findEntries, invertEdit, removeEntry } from '../../../src/config/edit/index.js';

function remove(text: string, index: number): string {
  const edit = removeEntry(text, 'tools', index);
  const after = applyEdit(text, edit);
  assertOneEntryChanged(text, after);
  expect(applyEdit(after, invertEdit(text, edit)), 'undone').toBe(text);
  return after;
}

const COMMENTED = `# file
tools: # key
  # above a
  - name: a # beside a
    # in a
    env:
      A: b
    # last in a
  # between
  - name: b

  # above c
  - name: c
    # last in c
  # after c

# about model
model: x # beside
`;

describe('removing cuts the lines of the item and leaves every comment around it', () => {
  test.each([
    [
      0,
      `# file
tools: # key
  # above a
  # between
  - name: b

  # above c
  - name: c
    # last in c
  # after c

# about model
model: x # beside
`,
    ],
    [
      1,
      `# file
tools: # key
  # above a
  - name: a # beside a
    # in a
    env:
      A: b
    # last in a
  # between

  # above c
  - name: c
    # last in c
  # after c

# about model
model: x # beside
`,
    ],
    [
      2,
      `# file
tools: # key
  # above a
  - name: a # beside a
    # in a
    env:
      A: b
    # last in a
  # between
  - name: b

  # above c
  # after c

# about model
model: x # beside
`,
    ],
  ])('item %i of three', (index, after) => {
    expect(remove(COMMENTED, index)).toBe(after);
  });
});

describe('removing leaves a list', () => {
  test.each([
    ['the only item', 'tools:\n  - name: a\nb: 1\n', 0, 'tools: []\nb: 1\n'],
    ['the only item, no line break', 'tools:\n  - name: a', 0, 'tools: []'],
    ['the only item, a byte order mark', '\uFEFFtools:\n- a\n', 0, '\uFEFFtools: []\n'],
    [
      'the only item among comments',
      'tools: &t # key\n  # above\n  - name: a\n  # below\nb: 1\n',
      0,
      'tools: &t [] # key\n  # above\n  # below\nb: 1\n',
    ],
    ['a tag on its own line', 'tools:\n  !!seq\n  - a\n', 0, 'tools:\n  !!seq []\n'],
    ['a flush list', 'tools:\n- a\n- b\n- c\n', 1, 'tools:\n- a\n- c\n'],
    ['the last line without a break', 'tools:\n- a\n- b', 1, 'tools:\n- a'],
    ['the last line without a break, CRLF', 'tools:\r\n- a\r\n- b', 1, 'tools:\r\n- a'],
    ['kept blank lines above the last', 'tools:\n- |+\n  a\n\n- b', 1, 'tools:\n- |+\n  a\n\n'],
    ['one below kept blank lines', 'tools:\n- |+\n  a\n- b\n\n- c\n', 1, 'tools:\n- |+\n  a\n- c\n'],
    ['the last below kept blank lines', 'tools:\n- |+\n  a\n- b\n\nx: 1\n', 1, 'tools:\n- |+\n  a\nx: 1\n'],
    ['a kept block scalar', 'tools:\n- |+\n  a\n\n- b\n', 0, 'tools:\n- b\n'],
    ['a block scalar that looks like items', 'tools:\n- |\n  - x\n  # y\n- b\n', 0, 'tools:\n- b\n'],
    ['a null item', 'tools:\n-\n- b\n', 0, 'tools:\n- b\n'],
    ['a dash on its own line', 'tools:\n  -\n    name: a\n  - b\n', 0, 'tools:\n  - b\n'],
    ['the first of spaced items', 'tools:\n  - a\n\n  - b\n\n  - c\n', 0, 'tools:\n  - b\n\n  - c\n'],
    ['the second of spaced items', 'tools:\n  - a\n\n  - b\n\n  - c\n', 1, 'tools:\n  - a\n\n  - c\n'],
    ['the last of spaced items', 'tools:\n  - a\n\n  - b\n\nx: 1\n', 1, 'tools:\n  - a\n\nx: 1\n'],
    [
      'the first below a comment keeps the blank line',
      'tools:\n  # about a\n  - a\n\n  - b\n',
      0,
      'tools:\n  # about a\n\n  - b\n',
    ],
    [
      'one below a comment and a blank line keeps it',
      'tools:\n  - a\n  # section\n\n  - b\n  - c\n',
      1,
      'tools:\n  - a\n  # section\n\n  - c\n',
    ],
    ['flow: the only one', 'tools: [{name: a}] # c\n', 0, 'tools: [] # c\n'],
    ['flow: the only one with its comma', 'tools: [a,]\n', 0, 'tools: []\n'],
    ['flow: the only one of several lines', 'tools: [\n  # c\n  a, # a\n]\n', 0, 'tools: [\n  # c\n]\n'],
    ['flow: the first', 'tools: [a, b, c]\n', 0, 'tools: [b, c]\n'],
    ['flow: the middle', 'tools: [ a, b, c ]\n', 1, 'tools: [ a, c ]\n'],
    ['flow: the last', 'tools: [a, b, c]\n', 2, 'tools: [a, b]\n'],
    ['flow: the last with its comma', 'tools: [a, b,]\n', 1, 'tools: [a,]\n'],
    ['flow: a pair', 'tools: [a: 1, ? b : 2, c]\n', 1, 'tools: [a: 1, c]\n'],
    ['flow: a line', 'tools: [\n  a, # a\n  b, # b\n  c\n]\n', 1, 'tools: [\n  a, # a\n  c\n]\n'],
    ['flow: the last line', 'tools: [\n  a, # a\n  b # b\n]\n', 1, 'tools: [\n  a # a\n]\n'],
    ['flow: several lines', 'tools: [\n  {x: 1,\n   y: 2},\n  b\n]\n', 0, 'tools: [\n  b\n]\n'],
    ['flow: before the bracket', 'tools: [\n  a,\n  b ]\n', 1, 'tools: [\n  a ]\n'],
    ['flow: before the bracket, CRLF', 'tools: [\r\n  a,\r\n  b ]\r\n', 1, 'tools: [\r\n  a ]\r\n'],
    ['flow: before the bracket, below a comment', 'tools: [a, # a\n  b]\n', 1, 'tools: [a # a\n  ]\n'],
    ['flow: before another on its line', 'tools: [ # c\n  a,b,\n  c]\n', 0, 'tools: [ # c\n  b,\n  c]\n'],
    ['flow: behind the bracket', 'tools: [a,\n  b]\n', 0, 'tools: [\n  b]\n'],
    ['flow: a comment before the comma', 'tools: [a # a\n  , b]\n', 0, 'tools: [ # a\n   b]\n'],
    ['flow: one of two on a line', 'tools: [\n  a, b, # both\n  c]\n', 1, 'tools: [\n  a, # both\n  c]\n'],
    ['JSON', '{"tools": [{"name": "a"}, {"name": "b"}]}', 0, '{"tools": [{"name": "b"}]}'],
  ])('%s', (_, before, index, after) => {
    expect(remove(before, index)).toBe(after);
  });
});

test.each([
  ['past the end', 'tools:\n  - a\n', 1],
  ['past the end of a flow list', 'tools: [a]\n', 1],
  ['before the start', 'tools:\n  - a\n', -1],
  ['no list', 'a: 1\n', 0],
  ['an empty list', 'tools: []\n', 0],
  ['no value', 'tools:\n', 0],
])('removing an entry that does not exist is refused: %s', (_, text, index) => {
  expect(() => removeEntry(text, 'tools', index)).toThrow(`'tools' has no entry ${index}`);
});

test.each([
  'tools:\n  - a\n',
  'tools:\n  - a',
  'tools:\r\n- a',
  'tools:\n  - a\n\n  - b\n',
  'tools:\n  - a\n\n  - b',
  'tools:\n  - a\n\n  - b\n  # end\n\n# about c\nc: 1\n',
  'tools:\n  - a # a\n    # in a\n  # end',
  'tools:\n  - |+\n    a\n\n',
  'tools:\n  - |+\n    a',
  'tools:\n  - a\n\n  - b: >-',
  'tools:\n  - a\n\n  - b: >-\n',
  'tools:\n  - a\n\n  - b: >-\n\n\nc: 1\n',
  'tools:\n  - a\n\n  - b: > # c\n      ',
  'tools:\r\n  - a\r\n\r\n  - b: |\r\n      \r\n',
  'tools:\n  - a\n\n  - b: |+\n\n',
  'tools:\n  - a\n\n  - b: |+',
  'tools:\n  - a\n...\n',
  'tools: [a]',
  'tools: [a,]',
  'tools: [a, b # c\n]',
  'tools: [\n  a # c\n]',
  'tools: [\n  a, # c\n  # d\n]',
  'tools: [\n  a ]',
  'tools: [\n  a, ]',
  'tools: [\n    a\n  , b\n]',
  '{\n  "tools": [\n    "a"\n  ]\n}\n',
  'tools: []\n',
  'tools: &t [] # c\nb: 1\n',
  '{"tools": []}',
])('adding to a list and removing again changes nothing: %j', (text) => {
  const added = applyEdit(text, addEntry(text, 'tools', { name: 'new' }));
  const last = findEntries(added, 'tools').length - 1;
  expect(applyEdit(added, removeEntry(added, 'tools', last))).toBe(text);
});
