import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { FIELDS } from '../../src/config/fields/entry-fields.js';
import { SETTINGS } from '../../src/config/fields/settings.js';
import { fileSchema } from '../../src/config/json-schema.js';
import { parseYaml } from '../../src/config/parse/parse-yaml.js';
import { unmark } from './corpus/definition.js';
import { COMMON, FOREIGN, IDENTITY, PROCESS, REMOTE } from './corpus/entries.js';
import { FILES, SOURCES } from './corpus/files.js';
import { CONTRACT, DATA_MODEL, SECTIONS } from './examples.js';
import { loadHerd, problemsOf, remoteAgent, stdioAgent, stdioConfig } from './support.js';

type Kind = 'agent' | 'config';

const ajv = new Ajv2020({ strict: false, allErrors: true });
const compiled = { agent: ajv.compile(fileSchema('agent')), config: ajv.compile(fileSchema('config')) };
const isValid = (kind: Kind, text: string) => compiled[kind](parseYaml('f', text).value);

const tools = (entry: string) => `tools:\n  - ${entry}\n`;
const servers = (entry: string) => `version: "1.0"\nmcp_servers:\n  - ${entry}\n`;

const GOOD: [kind: Kind, text: string][] = [
  ...[...Object.values(DATA_MODEL), ...Object.values(CONTRACT), ...Object.values(SECTIONS)].map(
    (text): [Kind, string] => ['agent', text],
  ),
  ['agent', ''],
  ['agent', 'tools:\n'],
  ['agent', 'name: mine\nmodel: {a: 1}\ntools: []\n'],
  ['agent', stdioAgent('transport: {type: stdio}', 'env:', 'stop: {close: 0}')],
  ['agent', remoteAgent('http').replace('transport: http', 'transport: streamable-http')],
  ['agent', remoteAgent('websocket', 'headers: {A: b}')],
  ['agent', tools('{name: p, type: mcp, server: s, plugin_dir: p, runtime_hint: uvx}')],
  ['agent', tools('{name: v, type: vectorstore, source_type: file, server: 5}')],
  ['agent', tools('{name: v, source_type: openapi, url: "http://a.b"}')],
  ['agent', tools('{name: v, source_type: mcp, mcp_server_url: "https://a.b"}')],
  ['agent', tools('just a text')],
  ['config', ''],
  ['config', 'version: 1.0\n'],
  ['config', 'version: "1.0"\ndaemon:\nsecurity: {trust: all, allowed_commands: [deno]}\nmcp_servers:\n'],
  ['config', 'version: "1.0"\ndaemon: {http: {listen: "127.0.0.1:1"}, log_level: debug, max_rss: 5}\n'],
  ['config', stdioConfig('type: mcp', 'enabled: false')],
  ['config', servers('{name: a, server: "@scope/name"}')],
  ['config', servers('{name: a, source_type: mcp, url: "mcp://x", mcp_plugin_dir: p, mcp_command: [a, b]}')],
];

const BAD: [kind: Kind, text: string][] = [
  ['agent', '[]'],
  ['agent', 'tools: {}\n'],
  ['agent', tools('{type: mcp, server: s, command: npx}')],
  ['agent', tools('{name: a, type: mcp, command: npx}')],
  ['agent', tools('{name: a, type: mcp, server: s}')],
  ['agent', tools('{name: a, type: mcp, server: s, transport: sse}')],
  ['agent', tools('{name: a, type: mcp, server: s, transport: http, url: ~}')],
  ['agent', tools('{name: a, type: mcp, server: "@a/b", transport: stdio}')],
  ['agent', tools('{name: a, type: mcp, server: s, url: "https://a.b"}')],
  [
    'agent',
    tools('{name: a, type: mcp, server: s, transport: {type: sse}, command: npx, url: "https://a.b"}'),
  ],
  ['agent', stdioAgent('timeout: 5')],
  ['agent', stdioAgent('zebra: 5')],
  ['agent', stdioAgent('__proto__: 5')],
  ['agent', stdioAgent('request_timeout: 0')],
  ['agent', stdioAgent('request_timeout: 1.5')],
  ['agent', stdioAgent('env: {A: 5}')],
  ['agent', stdioAgent('backoff: {mim: 5}')],
  ['agent', tools('{name: v, source_type: mcp, mcp_server: "https://a.b"}')],
  ['config', 'version: "2.0"\n'],
  ['config', 'version: "1.0"\ntools: []\n'],
  ['config', 'version: "1.0"\nsecurity: {trust: yes}\n'],
  ['config', 'version: "1.0"\ndaemon: {http: {token: auto}}\n'],
  ['config', servers('text')],
  ['config', servers('~')],
  ['config', servers('{name: a, source_type: openapi}')],
];

describe('the schema for editors', () => {
  it.each(GOOD)('lets a good file through: %s %j', async (kind, text) => {
    expect(isValid(kind, text), ajv.errorsText(compiled[kind].errors)).toBe(true);
  });

  it.each(BAD)('finds a bad one, as the loader does: %s %j', async (kind, text) => {
    expect(isValid(kind, text)).toBe(false);
    expect(await problemsOf({ [kind]: text })).not.toEqual([]);
  });

  it.each(FOREIGN)('finds a field of another transport: $name', ({ agent = '' }) => {
    expect(isValid('agent', unmark(agent).text)).toBe(false);
  });

  it('finds most shape errors', () => {
    const corpus = [...IDENTITY, ...PROCESS, ...REMOTE, ...COMMON, ...FILES, ...SOURCES];
    const found = corpus.filter(
      ({ agent, config = '' }) =>
        !isValid(agent === undefined ? 'config' : 'agent', unmark(agent ?? config).text),
    );
    expect(found.length / corpus.length).toBeGreaterThan(0.6);
  });

  it('describes every field and every setting', () => {
    const { $defs } = fileSchema('agent') as { $defs: { entry: { properties: Record<string, object> } } };
    expect(Object.keys($defs.entry.properties).sort()).toEqual(Object.keys(FIELDS).sort());
    for (const field of Object.values($defs.entry.properties)) expect(field).toHaveProperty('description');
    const text = JSON.stringify(fileSchema('config'));
    for (const key of Object.values(SETTINGS).flatMap(Object.keys)) {
      expect(text).toContain(`"${key}":`);
    }
  });

  it('is a valid JSON Schema', () => {
    for (const kind of ['agent', 'config'] as const) {
      expect(ajv.validateSchema(fileSchema(kind))).toBe(true);
      expect(JSON.parse(JSON.stringify(fileSchema(kind)))).toEqual(fileSchema(kind));
    }
  });

  it('accepts what the loader accepts', async () => {
    const config = stdioConfig('ping: {interval: 0}').replace(
      'version',
      'daemon: {max_starting: 1}\nversion',
    );
    const agent = stdioAgent('tools: {allow: [a]}', 'roots: [x]', 'result_limit: 5', 'idle_timeout: 0');
    expect((await loadHerd({ config, agent: agent.replace('name: a', 'name: b') })).servers).toHaveLength(2);
    expect(isValid('config', config)).toBe(true);
    expect(isValid('agent', agent)).toBe(true);
  });
});
