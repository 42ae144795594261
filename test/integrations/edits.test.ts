import fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { removeJson, setJson } from '../../src/integrations/json-entry.js';
import { removeToml, setToml } from '../../src/integrations/toml-entry.js';

const ENTRY = { command: 'node', args: ['x', 'bridge'] };
const put = (text: string) => setJson(text, ['mcpServers'], 'toolherd', ENTRY);
const take = (text: string) => removeJson(text, ['mcpServers'], 'toolherd');

/** The parser tolerates errors; these texts must have none. */
function parseJson(text: string) {
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  expect(errors).toEqual([]);
  return value;
}

/** Each has a server already, so that only the entry is new. */
const JSONS: Record<string, string> = {
  plain: '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  }\n}\n',
  tabs: '{\n\t"mcpServers": {\n\t\t"a": {}\n\t},\n\t"b": 1\n}',
  'a line': '{"mcpServers":{"a":{}},"b":1}',
  'a comment behind the last': '{\n  "mcpServers": {\n    "a": {} // mine\n    // more\n  }\n}\n',
  'a trailing comma': '{\n  "mcpServers": {\n    "a": {}, // mine\n  },\n}\n',
  'a comma inside a comment': '{\n  "mcpServers": {\n    "a": {} /* , */\n  }\n}\n',
  'CR LF': '{\r\n    "mcpServers": {\r\n        "a": {}\r\n    }\r\n}\r\n',
  'a map in a line of a large file': '{\n  "mcpServers": { "a": {} },\n  "b": 1\n}\n',
  'an empty map': '{\n  "mcpServers": {}\n}\n',
};

describe('an entry in JSON', () => {
  it.each(Object.entries(JSONS))('is added and removed, and nothing else changes: %s', (_, text) => {
    const there = put(text);
    expect(parseJson(there)).toEqual({
      ...parseJson(text),
      mcpServers: { ...parseJson(text).mcpServers, toolherd: ENTRY },
    });
    expect(put(there)).toBe(there);
    expect(take(there)).toBe(text);
  });

  it('has the layout of the entries beside it', () => {
    expect(put(JSONS['a comment behind the last'] ?? '')).toBe(
      '{\n  "mcpServers": {\n    "a": {}, // mine\n    // more\n    "toolherd": {\n      "command": "node",\n' +
        '      "args": [\n        "x",\n        "bridge"\n      ]\n    }\n  }\n}\n',
    );
    expect(put(JSONS['a line'] ?? '')).toBe(
      '{"mcpServers":{"a":{}, "toolherd": {"command":"node","args":["x","bridge"]}},"b":1}',
    );
  });

  it.each(['', '{}', '{\n}\n', '// nothing yet\n{\n  // here\n}\n', '{\n  "b": 1\n}\n'])(
    'missing parents are created: %j',
    (text) => {
      const there = put(text);
      expect(parseJson(there)).toMatchObject({ ...parseJson(text), mcpServers: { toolherd: ENTRY } });
      for (const comment of text.match(/\/\/.*/g) ?? []) expect(there).toContain(comment);
      expect(parseJson(take(there)).mcpServers).toEqual({});
    },
  );

  it('an older one is replaced in place, on one line if its parent is on one line', () => {
    const text = '{"mcpServers":{"a":1, "toolherd": {"command":"x"}}}\n';
    expect(setJson(text, ['mcpServers'], 'toolherd', { command: 'y' })).toBe(text.replace('"x"', '"y"'));
  });

  it('an older one is replaced in place', () => {
    const old = '{\n  "mcpServers": {\n    "toolherd": { "command": "old" }, // ours\n    "a": {}\n  }\n}\n';
    const there = put(old);
    expect(there).toContain('"toolherd": {\n      "command": "node"');
    expect(there).toContain('}, // ours\n    "a": {}');
    expect(take(there)).toBe('{\n  "mcpServers": { // ours\n    "a": {}\n  }\n}\n');
  });

  it('is added and removed in any file and layout', () => {
    const servers = fc.dictionary(fc.string(), fc.jsonValue());
    const layout = fc.constantFrom(undefined, 0, 2, 4, '\t');
    fc.assert(
      fc.property(servers, fc.dictionary(fc.string(), fc.jsonValue()), layout, (mcpServers, rest, indent) => {
        const { toolherd: _, ...others } = mcpServers;
        const { mcpServers: __, ...outer } = rest;
        const text = JSON.stringify({ ...outer, mcpServers: others }, null, indent);
        const there = put(text);
        expect(JSON.parse(there)).toEqual({
          ...JSON.parse(text),
          mcpServers: { ...JSON.parse(text).mcpServers, toolherd: ENTRY },
        });
        expect(take(there)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

const TOMLS: Record<string, string> = {
  empty: '',
  'no servers': 'model = "x" # mine\n',
  'no line break at the end': 'model = "x"',
  'other servers': '[mcp_servers.a]\ncommand = "x"\nargs = [\n  "[b]",\n]\n\n[other]\nx = 1\n',
  'CR LF': '[other]\r\nx = 1\r\n',
};

describe('an entry in TOML', () => {
  const putIn = (text: string, entry: object = ENTRY) => setToml(text, ['mcp_servers'], 'toolherd', entry);

  it.each(Object.entries(TOMLS))('is added and removed, and nothing else changes: %s', (_, text) => {
    const there = putIn(text);
    expect(there.startsWith(text)).toBe(true);
    expect(JSON.stringify((parseToml(there).mcp_servers as Record<string, unknown>).toolherd)).toBe(
      JSON.stringify(ENTRY),
    );
    expect(putIn(there)).toBe(there);
    expect(removeToml(there, ['mcp_servers'], 'toolherd').trimEnd()).toBe(text.trimEnd());
  });

  it('is removed with its subtables, without the comments of the next table', () => {
    const text = `${putIn('', { ...ENTRY, env: { A: 'b' } })}\n# the next\n[next]\nx = 1\n`;
    expect(text).toContain('[mcp_servers.toolherd.env]');
    expect(removeToml(text, ['mcp_servers'], 'toolherd')).toBe('\n# the next\n[next]\nx = 1\n');
  });

  it('a server with the same name prefix stays', () => {
    const text = '[mcp_servers.toolherd-old]\ncommand = "x"\n';
    expect(removeToml(text, ['mcp_servers'], 'toolherd')).toBe(text);
  });
});
