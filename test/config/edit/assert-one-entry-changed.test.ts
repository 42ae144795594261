import { expect, test } from 'vitest';
import { assertOneEntryChanged } from '../../../src/config/edit/assert-one-entry-changed.js';

test.each([
  ['an item more', 'tools: [a]', 'tools: [a, b]'],
  ['an item less', 'tools: [a, b, c]', 'tools: [a, c]'],
  ['the first item less', 'tools: [{a: [1]}, b]', 'tools: [b]'],
  ['one of equal items less', 'tools: [a, a]', 'tools: [a]'],
  ['the first item of a new key', 'x: 1', 'x: 1\ntools: [a]'],
  ['the first item instead of null', 'tools:', 'tools: [a]'],
  ['the first item and the version in a new file', '', 'version: "1.0"\nmcp_servers: [a]'],
])('one entry may be added or removed: %s', (_, before, after) => {
  expect(() => assertOneEntryChanged(before, after)).not.toThrow();
});

test.each([
  ['nothing changes', 'tools: [a]', 'tools: [a] # c', /nothing would change/],
  ['two items more', 'tools: [a]', 'tools: [a, b, c]', /'tools' would change by something else/],
  ['an item replaced', 'tools: [a]', 'tools: [b]', /'tools' would change by something else/],
  [
    'an item more and one changed',
    'tools: [a, b]',
    'tools: [A, b, c]',
    /'tools' would change by something else/,
  ],
  ['a list no more', 'tools: [a]', 'tools: {}', /'tools' would change by something else/],
  ['a text made a list', 'tools: a', 'tools: [a, b]', /'tools' would change by something else/],
  ['the list gone with two items', 'tools: [a, b]', '{}', /'tools' would change by something else/],
  ['another list', 'x: [a]', 'x: [a, b]', /'x' would change/],
  ['another key too', 'tools: [a]\nx: 1', 'tools: []\nx: 2', /both 'tools' and 'x' would change/],
  ['a key deep down too', 'tools: []\nx: {y: [1]}', 'tools: [a]\nx: {y: ["1"]}', /both 'tools' and 'x'/],
  ['both lists', 'tools: []\nmcp_servers: []', 'tools: [a]\nmcp_servers: [a]', /both/],
  ['a version in an old file', 'x: 1', 'x: 1\nversion: 1\nmcp_servers: [a]', /both/],
  ['an alias with another meaning', 'tools: &a []\nx: *a', 'tools: &a [b]\nx: *a', /both/],
  [
    'a list that a merge gave',
    'b: &b {tools: [a]}\n<<: *b',
    'b: &b {tools: [a]}\n<<: *b\ntools: [c]',
    /something else/,
  ],
  ['no mapping', 'tools: [a]', '- a', /not a mapping/],
  ['no YAML', 'tools: [a]', 'tools: [a', /Not valid YAML/],
  ['a second document', 'tools: [a]', 'tools: [a, b]\n---\nx: 1\n', /more than one document/],
])('every other change is refused: %s', (_, before, after, message) => {
  expect(() => assertOneEntryChanged(before, after)).toThrow(message);
});
