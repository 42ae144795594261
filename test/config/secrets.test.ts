import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/parse/problem.js';
import { Redactor } from '../../src/shared/secrets/redactor.js';
import {
  loadAgent,
  loadHerd,
  makeHerd,
  remoteAgent,
  type Setting,
  stdioAgent,
  stdioConfig,
  trustRefusalOf,
} from './support.js';

/** A secret that is written differently in JSON and in a url, and does not occur elsewhere. */
const CANARY = 'c4n4ry "quoted" \\ é/&?=%41';
/** For positions where only plain characters are valid. */
const PLAIN = 'pl4in-c4n4ry-0123456789';

const YAML_CANARY = JSON.stringify(CANARY);
const SECRETS = { SECRET: CANARY, PLAIN };

/** Every text in which a value could be hidden. */
function textsOf(thing: unknown): string[] {
  const own = thing instanceof Error ? Object.getOwnPropertyNames(thing) : [];
  const parts = own.map((name) => inspect((thing as never)[name], { depth: 20, maxStringLength: null }));
  const whole = inspect(thing, { depth: 20, showHidden: true, maxStringLength: null });
  return [String(thing), JSON.stringify(thing) ?? '', whole, ...parts];
}

function expectNoCanary(thing: unknown): void {
  for (const text of textsOf(thing)) {
    for (const form of [
      CANARY,
      JSON.stringify(CANARY).slice(1, -1),
      encodeURIComponent(CANARY),
      PLAIN,
      'c4n4ry',
    ]) {
      expect(text).not.toContain(form);
    }
  }
}

const plugin = (text: string) => ({ 'project/p/plugin.json': text });
const MANIFEST = JSON.stringify({
  packages: [{ runtime: 'npx', command: ['x'], environment_variables: [{ name: 'HARMLESS', secret: true }] }],
});

/** Positions of a secret in files that load. */
const PLANTED: [name: string, setting: Setting, label: string][] = [
  ['a literal in env', { agent: stdioAgent(`env: {API_KEY: ${YAML_CANARY}}`) }, 'API_KEY'],
  ['a variable in env', { agent: stdioAgent('env: {HARMLESS: "${SECRET}"}'), env: SECRETS }, 'SECRET'],
  ['a variable in args', { agent: stdioAgent('args: ["--x=${SECRET}"]'), env: SECRETS }, 'SECRET'],
  [
    'a variable in config',
    { agent: stdioAgent('config: {deep: [{er: "${SECRET}"}]}'), env: SECRETS },
    'SECRET',
  ],
  [
    'a variable in the url',
    { agent: remoteAgent('http', 'url: "https://a.b/${PLAIN}"'), env: SECRETS },
    'PLAIN',
  ],
  [
    'an envFile',
    { agent: stdioAgent('envFile: .env'), files: { 'project/.env': `HARMLESS='${CANARY}'\n` } },
    'HARMLESS',
  ],
  ['a literal header', { agent: remoteAgent('sse', `headers: {X-Harmless: ${YAML_CANARY}}`) }, 'X-Harmless'],
  [
    'a variable in a header',
    { agent: remoteAgent('http', 'headers: {A: "${SECRET}"}'), env: SECRETS },
    'SECRET',
  ],
  [
    'a secret variable of a manifest, from the process',
    { agent: stdioAgent('plugin_dir: p'), files: plugin(MANIFEST), env: { HARMLESS: CANARY } },
    'HARMLESS',
  ],
  [
    'a secret variable of a manifest, from env',
    { agent: stdioAgent('plugin_dir: p', `env: {HARMLESS: ${YAML_CANARY}}`), files: plugin(MANIFEST) },
    'HARMLESS',
  ],
  [
    'a literal in env of the global config',
    { config: stdioConfig(`env: {DB_PASSWORD: ${YAML_CANARY}}`) },
    'DB_PASSWORD',
  ],
  [
    'a literal in env of a disabled entry',
    { agent: stdioAgent('enabled: false', `env: {API_KEY: ${YAML_CANARY}}`) },
    'API_KEY',
  ],
  [
    'a literal header of a disabled entry',
    { agent: remoteAgent('http', 'enabled: false', `headers: {X-Harmless: ${YAML_CANARY}}`) },
    'X-Harmless',
  ],
  [
    'a literal deep in config whose name says that it is one',
    { agent: stdioAgent(`config: {server: {api_key: ${YAML_CANARY}}}`) },
    'api_key',
  ],
];

describe('X1 SC-005: one redactor knows every secret of a herd', () => {
  it.each(PLANTED)('%s', async (_, setting, label) => {
    const { redactor, servers } = await loadHerd(setting);
    const value = label === 'PLAIN' ? PLAIN : CANARY;
    expect(redactor.redact(`before ${value} after`)).toBe(`before [redacted:${label}] after`);
    expect(redactor.redact(JSON.stringify({ key: value }))).toBe(`{"key":"[redacted:${label}]"}`);
    expect(redactor.redact(`https://a.b/?q=${encodeURIComponent(value)}`)).toBe(
      `https://a.b/?q=[redacted:${label}]`,
    );
    expectNoCanary(redactor.redactDeep({ list: [{ [value]: value }], text: `<${value}>` }));
    expectNoCanary(redactor.redactDeep(servers));
  });

  it.each(PLANTED)('no warning shows it: %s', async (_, setting) => {
    expectNoCanary((await loadHerd(setting)).warnings);
  });

  it('a bearer token is redacted without its scheme too', async () => {
    const agent = remoteAgent('http', `headers: {Authorization: "Bearer ${PLAIN}"}`);
    expectNoCanary((await loadHerd({ agent })).redactor.redact(`token ${PLAIN}`));
  });

  it('each line of a multi-line secret is redacted', async () => {
    const { redactor } = await loadHerd({
      agent: stdioAgent('env: {PEM: "${PEM}"}'),
      env: { PEM: `-----BEGIN-----\n${PLAIN}\n-----END-----\n` },
    });
    expectNoCanary(redactor.redact(`line: ${PLAIN}`));
  });

  it('literals under harmless names, defaults and short values stay readable', async () => {
    const agent = stdioAgent('env: {MODE: production, PORT: "${PORT}"}', 'args: ["${LEVEL:-verbose}"]');
    const { redactor } = await loadHerd({ agent, env: { PORT: '8080' } });
    expect(redactor.redact('production 8080 verbose')).toBe('production 8080 verbose');
  });

  it('paths of the machine stay readable', async () => {
    const agent = stdioAgent('args: ["${HOME}/x"]');
    const { redactor } = await loadHerd({ agent, env: { HOME: '/home/someone' } });
    expect(redactor.redact('/home/someone/x')).toBe('/home/someone/x');
  });
});

describe('the redactor', () => {
  it('replaces the longest secret first', () => {
    const redactor = new Redactor();
    redactor.add('SHORT', 'secret');
    redactor.add('LONG', 'secret-and-more');
    expect(redactor.redact('secret-and-more secret')).toBe('[redacted:LONG] [redacted:SHORT]');
  });

  it('treats a secret as literal text', () => {
    const redactor = new Redactor();
    redactor.add('A', '$& .* (x) [y]');
    expect(redactor.redact('<$& .* (x) [y]> $& (x)')).toBe('<[redacted:A]> $& (x)');
  });

  it.each(['\uD800broken', 'it ends\uDC00', 'a\0bcdef'])('accepts malformed Unicode and NUL: %j', (value) => {
    const redactor = new Redactor();
    redactor.add('A', value);
    expect(redactor.redact(`<${value}>`)).toBe('<[redacted:A]>');
  });

  it('changes only strings', () => {
    const redactor = new Redactor();
    redactor.add('A', 'secret');
    const value = { a: 1, b: null, c: [true, undefined], d: 'x' };
    expect(redactor.redactDeep(value)).toEqual(value);
  });
});

/** Files that do not load, with a secret that an error could quote. */
const BROKEN: [name: string, setting: Setting][] = [
  ['a wrong type beside it', { agent: stdioAgent(`env: {API_KEY: ${YAML_CANARY}, N: 5}`) }],
  ['an unknown field beside it', { agent: stdioAgent(`env: {API_KEY: ${YAML_CANARY}}`, 'zebra: 1') }],
  ['an unset variable beside it', { agent: stdioAgent(`env: {API_KEY: ${YAML_CANARY}, B: "\${NOPE}"}`) }],
  ['an unset variable in the same text', { agent: stdioAgent('args: ["${PLAIN} ${NOPE}"]'), env: SECRETS }],
  ['a malformed reference in the same text', { agent: stdioAgent(`args: ["${PLAIN} \${"]`) }],
  ['a malformed reference around it', { agent: stdioAgent(`args: ["\${${PLAIN}}"]`) }],
  ['env as a list', { agent: stdioAgent(`env: ["API_KEY=${PLAIN}"]`) }],
  ['env as a text', { agent: stdioAgent(`env: API_KEY=${PLAIN}`) }],
  ['headers as a text', { agent: remoteAgent('http', `headers: ${YAML_CANARY}`) }],
  ['headers as a list', { agent: remoteAgent('http', `headers: ["Authorization: ${PLAIN}"]`) }],
  ['a line break in a header', { agent: remoteAgent('http', `headers: {A: "${PLAIN}\\nX: y"}`) }],
  [
    'a line break in the variable of a header',
    { agent: remoteAgent('http', 'headers: {A: "${V}"}'), env: { V: `${PLAIN}\n${CANARY}` } },
  ],
  ['headers for stdio', { agent: stdioAgent(`headers: {A: ${YAML_CANARY}}`) }],
  ['args as a text', { agent: stdioAgent(`args: --token=${PLAIN}`) }],
  ['a plain url', { agent: remoteAgent('http', `url: http://user:${PLAIN}@example.com`) }],
  ['no url at all', { agent: remoteAgent('http', `url: ${YAML_CANARY}`) }],
  ['a plain url from a variable', { agent: remoteAgent('http', 'url: "http://${PLAIN}.com"'), env: SECRETS }],
  ['a root on the network', { agent: stdioAgent('roots: ["https://a.b/${PLAIN}"]'), env: SECRETS }],
  ...[
    'encoding',
    'transport',
    'restart',
    'request_timeout',
    'stop',
    'registry_name',
    'config',
    'roots',
    'enabled',
  ].map((field): [string, Setting] => [
    `a value for ${field}`,
    { agent: stdioAgent(`${field}: ${YAML_CANARY}`) },
  ]),
  ['a version', { config: `version: ${YAML_CANARY}\n` }],
  [
    'a listen address',
    { config: `version: "1.0"\ndaemon: {http: {listen: "${PLAIN}:1", token: ${PLAIN}}}\n` },
  ],
  ['a registry', { config: `version: "1.0"\ndaemon: {registry: "http://user:${PLAIN}@a.b"}\n` }],
  ['a trust', { config: `version: "1.0"\nsecurity: {trust: ${PLAIN}, allowed_commands: ${PLAIN}}\n` }],
  ['a file that is one text', { agent: YAML_CANARY }],
  ['tools as a text', { agent: `tools: ${YAML_CANARY}\n` }],
  ['an entry that is a text', { config: `version: "1.0"\nmcp_servers: [${PLAIN}]\n` }],
  ['a string that does not end', { agent: stdioAgent(`env: {API_KEY: "${PLAIN}}`) }],
  ['two colons', { agent: stdioAgent('env:', `  API_KEY: ${PLAIN}: ${PLAIN}`) }],
  ['a bad indentation', { agent: stdioAgent('env:', `  API_KEY: ${PLAIN}`, ` OTHER: ${PLAIN}`) }],
  ['a tab', { agent: stdioAgent('env:', `\tAPI_KEY: ${PLAIN}`) }],
  ['a value that begins with @', { agent: stdioAgent(`env: {API_KEY: @${PLAIN}}`) }],
  ['an unknown escape', { agent: stdioAgent(`env: {API_KEY: "\\q${PLAIN}\\x${PLAIN}"}`) }],
  ['an alias of that name', { agent: stdioAgent(`env: {API_KEY: *${PLAIN}}`) }],
  ['a tag of that name', { agent: stdioAgent(`env: {API_KEY: !<${PLAIN} x}`) }],
  ['a directive', { agent: `%YAML ${PLAIN}\n---\n${stdioAgent()}` }],
  ['a block scalar header', { agent: stdioAgent(`env: {A: b}`, `cwd: |${PLAIN}`) }],
  ['a key twice', { agent: stdioAgent('env:', `  API_KEY: ${PLAIN}`, `  API_KEY: ${PLAIN}`) }],
  ['a merge of it', { agent: stdioAgent(`env: {<<: ${PLAIN}}`) }],
  ['a list as a key', { agent: stdioAgent(`env: {[${PLAIN}]: x}`) }],
  [
    'a refused name in an envFile',
    { agent: stdioAgent('envFile: .env'), files: { 'project/.env': `PATH=${PLAIN}\nAPI_KEY='${CANARY}'\n` } },
  ],
  [
    'a name in an envFile that cannot be used',
    { agent: stdioAgent('envFile: .env'), files: { 'project/.env': `__proto__=${PLAIN}\n` } },
  ],
  [
    'a manifest that is not valid JSON',
    { agent: stdioAgent('plugin_dir: p'), files: plugin(`{"token": ${PLAIN}}`) },
  ],
  [
    'a manifest with a key twice',
    { agent: stdioAgent('plugin_dir: p'), files: plugin(`{"a": "${PLAIN}", "a": "${PLAIN}"}`) },
  ],
  [
    'a manifest of another shape',
    { agent: stdioAgent('plugin_dir: p'), files: plugin(`{"packages": "${PLAIN}"}`) },
  ],
  [
    'a variable that is too long',
    { agent: stdioAgent('env: {A: "${LONG}"}'), env: { LONG: PLAIN.repeat(9000) } },
  ],
  ['a NUL', { agent: stdioAgent('env: {A: "${NUL}"}'), env: { NUL: `${PLAIN}\0` } }],
  [
    'a source document',
    {
      config: `version: "1.0"\nmcp_servers:\n  - {name: a, source_type: mcp, mcp_server_url: "http://a.b", mcp_env_vars: {T: ${YAML_CANARY}, N: 5}}\n`,
    },
  ],
];

describe('X1 SC-005: no error shows a secret', () => {
  it.each(BROKEN)('%s', async (_, setting) => {
    const error = await makeHerd(setting)
      .load()
      .then(
        () => expect.fail('it was accepted'),
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(ConfigError);
    expectNoCanary(error);
  });

  it('the check of this test finds a leaked secret', () => {
    expect(() => expectNoCanary(new Error(`<${CANARY}>`))).toThrow();
    expect(() => expectNoCanary({ deep: [{ er: PLAIN }] })).toThrow();
    expect(() => expectNoCanary(new Error('x', { cause: new Error(PLAIN) }))).toThrow();
  });

  it('a file that is not allowed shows the names of its variables, and no value', async () => {
    const herd = makeHerd({
      agent: `${stdioAgent(`env: {API_KEY: ${YAML_CANARY}, B: "\${SECRET}"}`)}${remoteAgent('http', `headers: {Authorization: ${YAML_CANARY}}`).slice('tools:\n'.length).replace('name: a', 'name: b')}`,
      env: SECRETS,
    });
    const error = await trustRefusalOf(herd.load({ trustFile: herd.trustFile }));
    expect(error.wouldRun).toMatchObject([{ env: ['API_KEY', 'B'] }, { url: 'https://example.com/mcp' }]);
    expectNoCanary(error);
  });
});

describe('an error stays readable', () => {
  it('the path of a file stays whole if the value of a variable is part of it', async () => {
    const herd = makeHerd({ agent: stdioAgent('args: ["${WHERE}"]', 'timeout: 5') });
    const load = herd.load({ environment: { WHERE: herd.project } });
    await expect(load).rejects.toMatchObject({
      problems: [{ file: herd.agentFile, line: 8, type: 'MCPConfigError' }],
    });
  });
});

it('X1: a password in a url is redacted', async () => {
  const { redactor } = await loadAgent(
    remoteAgent('http', 'url: "https://user:hunter2-hunter2@example.com/"'),
  );
  expect(redactor.redact('it said hunter2-hunter2')).toBe('it said [redacted:url]');
});

it('X1: secrets in plain text in the query of a url and in flags are redacted, also of a disabled entry', async () => {
  const url =
    'url: "https://example.com/mcp?api_key=k3y-0123456789&region=eu-west-1&token=t0ken%2F0123456789"';
  const args = 'args: [--api-key, fl4g-0123456789, "--auth-token=fl4g-abcdef0123", --region, eu-west-1]';
  for (const state of ['enabled: true', 'enabled: false']) {
    const remote = (await loadAgent(remoteAgent('http', url, state))).redactor;
    expect(remote.redact('GET /mcp?api_key=k3y-0123456789&region=eu-west-1&token=t0ken%2F0123456789')).toBe(
      'GET /mcp?api_key=[redacted:api_key]&region=eu-west-1&token=[redacted:token]',
    );
    const local = (await loadAgent(stdioAgent(args, state))).redactor;
    expect(local.redact('fl4g-0123456789 fl4g-abcdef0123 eu-west-1')).toBe(
      '[redacted:args] [redacted:args] eu-west-1',
    );
  }
});
