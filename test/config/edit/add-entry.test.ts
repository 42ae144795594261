import { describe, expect, test } from 'vitest';
import { assertOneEntryChanged } from '../../../src/config/edit/assert-one-entry-changed.js';
import { addEntry, applyEdit, invertEdit, type ListKey } from '../../../src/config/edit/index.js';

const ENTRY = { name: 'new', args: ['-y'], env: { KEY: '${KEY}' } };

function add(text: string, key: ListKey = 'tools'): string {
  const edit = addEntry(text, key, ENTRY);
  const after = applyEdit(text, edit);
  assertOneEntryChanged(text, after);
  expect(applyEdit(after, invertEdit(text, edit)), 'undone').toBe(text);
  return after;
}

/** The new item as the cases below print it most often. */
const ITEM = `  - name: new
    args:
      - -y
    env:
      KEY: \${KEY}
`;
const FLUSH = '- name: new\n  args:\n  - -y\n  env:\n    KEY: ${KEY}\n';
const WITHOUT_BREAK = ITEM.slice(0, -1);
const FLOW = '{name: new, args: [-y], env: {KEY: "${KEY}"}}';
const JSON_ITEM = '{"name": "new", "args": ["-y"], "env": {"KEY": "${KEY}"}}';

describe('an entry is appended where there is no list yet', () => {
  test.each([
    ['an empty file', '', `tools:\n${ITEM}`],
    ['only a comment', '# mine\n', `# mine\n\ntools:\n${ITEM}`],
    ['only a comment, no line break', '# mine', `# mine\n\ntools:\n${WITHOUT_BREAK}`],
    ['a comment and a blank line', '# mine\n\n', `# mine\n\ntools:\n${ITEM}`],
    ['only blank lines', '\n\n', `\n\ntools:\n${ITEM}`],
    ['only spaces', '  ', `tools:\n${ITEM}  `],
    ['only a byte order mark', '\uFEFF', `\uFEFFtools:\n${ITEM}`],
    ['a document start', '---\n', `---\ntools:\n${ITEM}`],
    ['a document start with a comment', '--- # c\n', `--- # c\ntools:\n${ITEM}`],
    ['a document end', '...\n', `tools:\n${ITEM}...\n`],
    ['both markers and comments', '# a\n---\n# b\n...\n# c\n', `# a\n---\n# b\n\ntools:\n${ITEM}...\n# c\n`],
    ['a directive', '%YAML 1.2\n---\n', `%YAML 1.2\n---\ntools:\n${ITEM}`],
    ['other keys', 'name: a\nmodel: b\n', `name: a\nmodel: b\ntools:\n${ITEM}`],
    ['other keys, no line break', 'name: a', `name: a\ntools:\n${WITHOUT_BREAK}`],
    ['a comment behind a value', 'name: a # c\n', `name: a # c\ntools:\n${ITEM}`],
    ['a closing comment', 'name: a\n# end\n', `name: a\n# end\n\ntools:\n${ITEM}`],
    ['closing blank lines', 'name: a\n\n\n', `name: a\ntools:\n${ITEM}\n\n`],
    ['a document end after keys', 'name: a\n...\n', `name: a\ntools:\n${ITEM}...\n`],
    ['a kept block scalar', 'a: |+\n  # text\n\n', `a: |+\n  # text\n\ntools:\n${ITEM}`],
    ['a key of the same name further in', 'a:\n  tools: []\n', `a:\n  tools: []\ntools:\n${ITEM}`],
    ['no value', 'tools:\n', `tools:\n${ITEM}`],
    ['no value, no line break', 'tools:', `tools:\n${WITHOUT_BREAK}`],
    ['no value and a comment', 'tools: # none\nb: 1\n', `tools: # none\n${ITEM}b: 1\n`],
    ['a null', 'tools: null\nb: 1\n', `tools:\n${ITEM}b: 1\n`],
    ['a null and a comment', 'tools: ~   # none\nb: 1\n', `tools:   # none\n${ITEM}b: 1\n`],
    ['an anchor without value', 'tools: &t # none\n', `tools: &t # none\n${ITEM}`],
    ['an empty list', 'tools: []\n', `tools:\n${ITEM}`],
    ['an empty list, no line break', 'tools: []', `tools:\n${WITHOUT_BREAK}`],
    ['an empty list with a space', 'tools: [ ]\n', `tools:\n${ITEM}`],
    ['an empty list and a comment', 'tools: [] # none\nb: 1\n', `tools: # none\n${ITEM}b: 1\n`],
    ['an empty list with anchor and tag', 'tools: &t !!seq []\n', `tools: &t !!seq\n${ITEM}`],
    ['an empty list on the next line', 'tools:\n  []\nb: 1\n', `tools:\n${ITEM}b: 1\n`],
    ['an empty list closing the file', 'tools:\n  []', `tools:\n${WITHOUT_BREAK}`],
    ['an empty list beside a comment', 'tools:\n  [] # none\n', `tools:\n  # none\n${ITEM}`],
    ['a quoted key', '"tools": []\n', `"tools":\n${ITEM}`],
    [
      'an example in comments',
      'tools:\n  # - name: example\n\n  # more\n\n# about b\nb: 1\n',
      `tools:\n  # - name: example\n\n  # more\n${ITEM}\n# about b\nb: 1\n`,
    ],
    ['a comment about the next key', 'tools:\n# about b\nb: 1\n', `tools:\n${ITEM}# about b\nb: 1\n`],
    ['an empty list over several lines', 'tools: [\n  # none\n]\n', `tools: [\n  # none\n  ${FLOW}\n]\n`],
    ['an empty JSON file', '{}', `{"tools": [${JSON_ITEM}]}`],
    ['a JSON file', '{"a": 1}\n', `{"a": 1, "tools": [${JSON_ITEM}]}\n`],
    ['a JSON file over lines', '{\n  "a": 1\n}\n', `{\n  "a": 1,\n  "tools": [${JSON_ITEM}]\n}\n`],
    ['an empty list in JSON', '{"tools": []}', `{"tools": [${JSON_ITEM}]}`],
    ['a null in JSON', '{"tools": null}', `{"tools": [${JSON_ITEM}]}`],
    ['a flow mapping', '{a: 1}', `{a: 1, tools: [${FLOW}]}`],
  ])('%s', (_, before, after) => {
    expect(add(before)).toBe(after);
  });
});

describe('an entry is appended to a list', () => {
  test.each([
    ['indented', 'tools:\n  - name: a\n', `tools:\n  - name: a\n${ITEM}`],
    ['flush with its key', 'tools:\n- name: a\n', `tools:\n- name: a\n${FLUSH}`],
    ['without a last line break', 'tools:\n  - name: a', `tools:\n  - name: a\n${WITHOUT_BREAK}`],
    ['before another key', 'tools:\n  - name: a\nb: 1\n', `tools:\n  - name: a\n${ITEM}b: 1\n`],
    ['before a document end', 'tools:\n  - name: a\n...\n', `tools:\n  - name: a\n${ITEM}...\n`],
    ['with anchor and tag', 'tools: &t !!seq\n  - name: a\n', `tools: &t !!seq\n  - name: a\n${ITEM}`],
    ['of scalars and nulls', 'tools:\n  - a\n  -\n', `tools:\n  - a\n  -\n${ITEM}`],
    ['of flow mappings', 'tools:\n  - {name: a} # c\n', `tools:\n  - {name: a} # c\n${ITEM}`],
    ['ending in a block scalar', 'tools:\n  - |\n    # text\n', `tools:\n  - |\n    # text\n${ITEM}`],
    ['ending in kept blank lines', 'tools:\n  - |+\n    a\n\n', `tools:\n  - |+\n    a\n\n${ITEM}`],
    ['ending in an open block scalar', 'tools:\n  - |\n    a', `tools:\n  - |\n    a\n${WITHOUT_BREAK}`],
    [
      'with CRLF',
      'tools:\r\n  - name: a\r\nb: 1\r\n',
      `tools:\r\n  - name: a\r\n${ITEM.replaceAll('\n', '\r\n')}b: 1\r\n`,
    ],
    ['after a byte order mark', '\uFEFFtools:\n- name: a\n', `\uFEFFtools:\n- name: a\n${FLUSH}`],
    [
      'with wide dashes and steps',
      'tools:\n    -   name: a\n        env:\n            A: b\n        args:\n        -   c\n',
      'tools:\n    -   name: a\n        env:\n            A: b\n        args:\n        -   c\n' +
        '    -   name: new\n        args:\n        -   -y\n        env:\n            KEY: ${KEY}\n',
    ],
    [
      'with a wide dash outside and narrow ones inside',
      'tools:\n  -   name: a\n      args:\n        - b\n',
      'tools:\n  -   name: a\n      args:\n        - b\n' +
        '  -   name: new\n      args:\n        - -y\n      env:\n        KEY: ${KEY}\n',
    ],
    [
      'whose items are set off by blank lines',
      'tools:\n  - name: a\n\n  - name: b\n\nb: 1\n',
      `tools:\n  - name: a\n\n  - name: b\n\n${ITEM}\nb: 1\n`,
    ],
    [
      'whose blank line is within an item',
      'tools:\n  - a\n  - name: b\n\n    c: d\n',
      `tools:\n  - a\n  - name: b\n\n    c: d\n${ITEM}`,
    ],
    [
      'written in two styles: as its first item is',
      'tools:\n  - name: a\n    env:\n      A: b\n  -   name: c\n      env:\n          A: b\n',
      `tools:\n  - name: a\n    env:\n      A: b\n  -   name: c\n      env:\n          A: b\n${ITEM}`,
    ],
    [
      'with inner lists in two styles: as the first is',
      'tools:\n  - args:\n    - a\n  - args:\n      - b\n',
      'tools:\n  - args:\n    - a\n  - args:\n      - b\n' +
        '  - name: new\n    args:\n    - -y\n    env:\n      KEY: ${KEY}\n',
    ],
    [
      'set off by blank lines, after two block scalars',
      'tools:\n  - a\n\n  - b: |\n      b\n    c: |+\n      c\n',
      `tools:\n  - a\n\n  - b: |\n      b\n    c: |+\n      c\n${ITEM}`,
    ],
    [
      'set off by blank lines, but where one would become text',
      'tools:\n  - name: a\n\n  - |+\n    b\n',
      `tools:\n  - name: a\n\n  - |+\n    b\n${ITEM}`,
    ],
    [
      'whose last item ends in a comment',
      'tools:\n  - name: a\n    # own\n\n    # too\n\n# about b\nb: 1\n',
      `tools:\n  - name: a\n    # own\n\n    # too\n${ITEM}\n# about b\nb: 1\n`,
    ],
    [
      'with commented-out items at its end',
      'tools:\n  - name: a\n  # - name: b\n# about b\nb: 1\n',
      `tools:\n  - name: a\n  # - name: b\n${ITEM}# about b\nb: 1\n`,
    ],
    [
      'flush, before a comment about the next key',
      'tools:\n- name: a\n# about b\nb: 1\n',
      `tools:\n- name: a\n${FLUSH}# about b\nb: 1\n`,
    ],
    ['in flow', 'tools: [{name: a}]\n', `tools: [{name: a}, ${FLOW}]\n`],
    ['in flow with a last comma', 'tools: [{name: a},]\n', `tools: [{name: a}, ${FLOW},]\n`],
    [
      'in flow with spaces',
      'tools: [ { name: a } ] # c\n',
      'tools: [ { name: a }, { name: new, args: [ -y ], env: { KEY: "${KEY}" } } ] # c\n',
    ],
    ['in flow of scalars', 'tools: [a, b: c] # c\n', `tools: [a, b: c, ${FLOW}] # c\n`],
    [
      'in flow over lines',
      'tools: [\n  {name: a}, # a\n  {name: b} # b\n  # end\n]\n',
      `tools: [\n  {name: a}, # a\n  {name: b}, # b\n  ${FLOW}\n  # end\n]\n`,
    ],
    [
      'in flow over lines with a last comma',
      'tools: [\n  {name: a}, # a\n  # end\n]\n',
      `tools: [\n  {name: a}, # a\n  ${FLOW},\n  # end\n]\n`,
    ],
    ['in flow over lines, closed at once', 'tools: [\n  {name: a} ]', `tools: [\n  {name: a},\n  ${FLOW} ]`],
    [
      'in flow with leading commas',
      'tools: [\n    {name: a}\n  , {name: b}\n]\n',
      `tools: [\n    {name: a}\n  , {name: b}, ${FLOW}\n]\n`,
    ],
    [
      'in JSON over lines',
      '{\r\n  "tools": [\r\n    {"name": "a"}\r\n  ]\r\n}\r\n',
      `{\r\n  "tools": [\r\n    {"name": "a"},\r\n    ${JSON_ITEM}\r\n  ]\r\n}\r\n`,
    ],
  ])('%s', (_, before, after) => {
    expect(add(before)).toBe(after);
  });
});

test('a new config.yaml gets a version; an existing one does not', () => {
  expect(add('', 'mcp_servers')).toBe(`version: "1.0"\nmcp_servers:\n${ITEM}`);
  expect(add('# mine\n', 'mcp_servers')).toBe(`# mine\n\nversion: "1.0"\nmcp_servers:\n${ITEM}`);
  expect(add('{}', 'mcp_servers')).toBe(`{"version": "1.0", "mcp_servers": [${JSON_ITEM}]}`);
  expect(add('daemon: {}\n', 'mcp_servers')).toBe(`daemon: {}\nmcp_servers:\n${ITEM}`);
});

test.each([
  ['broken YAML', 'tools: [\n', /Not valid YAML/],
  ['a list at the top', '- a\n', /top level of the file is not a mapping/],
  ['a scalar at the top', 'null\n', /top level of the file is not a mapping/],
  ['a tagged nothing at the top', '--- !!map\n', /top level of the file is not a mapping/],
  ['a mapping', 'tools: {a: b}\n', /'tools' is not written as a list/],
  ['a string', 'tools: none\n', /'tools' is not written as a list/],
  ['an alias', 'a: &a []\ntools: *a\n', /'tools' is not written as a list/],
  ['an explicit key', '? tools\n: - a\n', /'tools' is not written as 'tools:'/],
  ['a flow key without value', '{tools: , a: 1}', /'tools' has no value/],
  ['the key twice', 'tools: []\ntools: []\n', /Duplicate key/],
  ['two documents', 'tools: []\n---\na: 1\n', /more than one document/],
])('a text that cannot be edited without guessing is refused: %s', (_, text, message) => {
  expect(() => addEntry(text, 'tools', ENTRY)).toThrow(message);
});

test('a refusal names the position', () => {
  expect(() => addEntry('a: 1\ntools: {}\n', 'tools', ENTRY)).toThrow(/:2:8\b/);
});
