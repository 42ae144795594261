import fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { removeJson, setJson } from '../../src/integrations/json-entry.js';
import { removeToml, setToml } from '../../src/integrations/toml-entry.js';
import {
  removeFromYamlList,
  removeFromYamlMap,
  setInYamlList,
  setInYamlMap,
} from '../../src/integrations/yaml-entry.js';

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

/** Each has an extension already, so that only the entry is new. */
const YAML_MAPS: Record<string, string> = {
  plain: 'extensions:\n  a:\n    cmd: x\n    args: []\nGOOSE_MODEL: m\n',
  'as the last key': 'GOOSE_MODEL: m # mine\nextensions:\n  a:\n    cmd: x\n',
  'comments inside':
    'extensions:\n  # first\n  a:\n    cmd: x\n# at the edge\n  b:\n    cmd: y\n  # last\n\n# other\nz: 1\n',
  'an indent of four': 'extensions:\n    a:\n        cmd: x\nz: 1\n',
  'CR LF': 'extensions:\r\n  a:\r\n    cmd: x\r\nz: 1\r\n',
  'blank lines between': 'extensions:\n  a:\n    cmd: x\n\n  b:\n    cmd: y\n\nz: 1\n',
  'an empty map': 'extensions: {}\nz: 1\n',
};

describe('an entry in YAML', () => {
  const putIn = (text: string) => setInYamlMap(text, 'extensions', 'toolherd', ENTRY);
  const takeFrom = (text: string) => removeFromYamlMap(text, 'extensions', 'toolherd');

  it.each(Object.entries(YAML_MAPS))(
    'is added to a map and removed, and nothing else changes: %s',
    (_, text) => {
      const there = putIn(text);
      const { extensions, ...rest } = parseYaml(text);
      expect(parseYaml(there)).toEqual({ ...rest, extensions: { ...extensions, toolherd: ENTRY } });
      expect(putIn(there)).toBe(there);
      expect(takeFrom(there)).toBe(text);
    },
  );

  it.each(['', 'z: 1\n', 'z: 1', '# nothing yet\n', 'extensions:\nz: 1\n'])(
    'a missing map is created: %j',
    (text) => {
      const there = putIn(text);
      expect(parseYaml(there)).toEqual({ ...parseYaml(text), extensions: { toolherd: ENTRY } });
      expect(parseYaml(takeFrom(there)).extensions).toEqual({});
    },
  );

  it('a map on one line and an extension with the same prefix stay', () => {
    expect(takeFrom('extensions: {toolherd: {cmd: x}}\n')).toBe('extensions: {toolherd: {cmd: x}}\n');
    expect(takeFrom('extensions:\n  toolherd-old:\n    cmd: x\n')).toBe(
      'extensions:\n  toolherd-old:\n    cmd: x\n',
    );
  });

  it.each([
    'name: x # mine\nmcpServers:\n  # first\n  - name: a\n    command: x\nmodels: []\n',
    'name: x\r\nmcpServers:\r\n- name: a\r\n  command: x\r\n',
  ])('is added to a list and removed, and nothing else changes: %j', (text) => {
    const entry = { name: 'toolherd', ...ENTRY };
    const there = setInYamlList(text, 'mcpServers', 'toolherd', entry);
    const { mcpServers, ...rest } = parseYaml(text);
    expect(parseYaml(there)).toEqual({ ...rest, mcpServers: [...mcpServers, entry] });
    expect(setInYamlList(there, 'mcpServers', 'toolherd', entry)).toBe(there);
    expect(removeFromYamlList(there, 'mcpServers', 'toolherd')).toBe(text);
  });
});
