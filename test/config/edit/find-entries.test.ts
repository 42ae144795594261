import { expect, test } from 'vitest';
import { findEntries } from '../../../src/config/edit/index.js';

test('every item of the list is found with its names and its position', () => {
  const text = [
    '\uFEFF# file',
    'tools:',
    '  - name: a',
    '    type: mcp',
    '    registry_name: io.github.alice/a',
    '    enabled: false',
    '  - &b {type: function, name: b}',
    '  - name: ""',
    '    registry_name: null',
    '  - just text',
    '  -',
    '  - *b',
    '',
  ].join('\r\n');
  expect(findEntries(text, 'tools')).toEqual([
    {
      index: 0,
      name: 'a',
      type: 'mcp',
      registryName: 'io.github.alice/a',
      enabled: false,
      line: 3,
      column: 5,
    },
    { index: 1, name: 'b', type: 'function', enabled: true, line: 7, column: 8 },
    { index: 2, enabled: true, line: 8, column: 5 },
    { index: 3, enabled: true, line: 10, column: 5 },
    { index: 4, enabled: true, line: expect.any(Number), column: expect.any(Number) },
    { index: 5, name: 'b', type: 'function', enabled: true, line: 12, column: 5 },
  ]);
});

test('a text without the list has no entries', () => {
  for (const text of [
    '',
    '# c\n',
    '---\n',
    'a: 1\n',
    'tools:\n',
    'tools: []\n',
    'mcp_servers: [{name: a}]\n',
  ]) {
    expect(findEntries(text, 'tools'), text).toEqual([]);
  }
  expect(findEntries('mcp_servers: [{name: a}]\n', 'mcp_servers')).toMatchObject([{ name: 'a' }]);
});

test('a value that is not a list is refused', () => {
  expect(() => findEntries('- a\n', 'tools')).toThrow(/not a mapping/);
  expect(() => findEntries('tools: {}\n', 'tools')).toThrow(/'tools' is not a list/);
  expect(() => findEntries('tools: [\n', 'tools')).toThrow(/Not valid YAML/);
});
