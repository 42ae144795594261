import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  HOME,
  loadAgent,
  only,
  problemsOf,
  remoteAgent,
  remoteOf,
  type Setting,
  stdioAgent,
  stdioOf,
} from '../support.js';

/** The expansion of a text in `args`. */
async function expanded(
  text: string,
  setting: Omit<Setting, 'agent'> = {},
  ...lines: string[]
): Promise<string> {
  const agent = stdioAgent(`args: [${JSON.stringify(text)}]`, ...lines);
  return stdioOf(await loadAgent(agent, setting)).args[0]!;
}

describe('FR-010: references', () => {
  const env = { A: 'one', B_2: 'two', _c: 'three', EMPTY: '', lower: 'four' };

  it.each([
    ['${A}', 'one'],
    ['${B_2}', 'two'],
    ['${_c}', 'three'],
    ['${lower}', 'four'],
    ['${env:A}', 'one'],
    ['<${A}-${B_2}>', '<one-two>'],
    ['${A}${A}${A}', 'oneoneone'],
    ['${A:-default}', 'one'],
    ['${NOPE:-default}', 'default'],
    ['${env:NOPE:-default}', 'default'],
    ['${NOPE:-}', ''],
    ['${NOPE:-a b: {c}', 'a b: {c'],
    ['${EMPTY}', ''],
    ['${EMPTY:-default}', 'default'],
    ['${userHome}', HOME],
    ['${userHome}/x', `${HOME}/x`],
  ])('%s becomes %j', async (text, wanted) => {
    expect(await expanded(text, { env })).toBe(wanted);
  });

  it.each([
    ['$$', '$'],
    ['$${A}', '${A}'],
    ['$$${A}', '$one'],
    ['$$$$', '$$'],
    ['cost: 5$', 'cost: 5$'],
    ['$', '$'],
    ['${NOPE:-$$}', '$$'],
  ])('a dollar sign: %s becomes %j', async (text, wanted) => {
    expect(await expanded(text, { env })).toBe(wanted);
  });

  it.each(['$A', '$A/x', '%A%', '{A}', '{{A}}', '$(A)', '#{A}', '$1', '$?'])(
    'nothing else is a reference: %s stays unchanged',
    async (text) => {
      expect(await expanded(text, { env })).toBe(text);
    },
  );

  it('workspaceFolder is the folder of the file, not of the process', async () => {
    const loaded = await loadAgent(stdioAgent('args: ["${workspaceFolder}/data"]'), { env });
    expect(stdioOf(loaded).args).toEqual([join(loaded.project, 'data')]);
  });

  it('workspaceFolder and userHome are not looked up in the environment', async () => {
    const places = { workspaceFolder: '/evil', userHome: '/evil' };
    expect(await expanded('${userHome}', { env: places })).toBe(HOME);
    expect(await expanded('${workspaceFolder}', { env: places })).not.toBe('/evil');
    expect(await expanded('${workspaceFolder:-/evil}', { env: places })).not.toBe('/evil');
  });

  it('the value of a variable is never expanded again', async () => {
    const nested = { OUTER: '${INNER}', INNER: 'x', DOLLARS: '$$', COMMAND: '$(touch /tmp/x)' };
    expect(await expanded('${OUTER}|${DOLLARS}|${COMMAND}', { env: nested })).toBe(
      '${INNER}|$$|$(touch /tmp/x)',
    );
  });

  it('a default is never expanded', async () => {
    expect(await expanded('${NOPE:-$A}', { env })).toBe('$A');
    expect(await expanded('${NOPE:-${A}', { env })).toBe('${A');
  });

  it('a command is never run', async () => {
    const loaded = await loadAgent(
      stdioAgent('args: ["$(touch ran)", "`touch ran`", "${NOPE:-$(touch ran)}"]'),
    );
    expect(stdioOf(loaded).args).toEqual(['$(touch ran)', '`touch ran`', '$(touch ran)']);
    expect(existsSync(join(loaded.project, 'ran'))).toBe(false);
  });

  it.each([
    '${',
    '${}',
    '${A',
    '${ A}',
    '${A }',
    '${A-b}',
    '${A:b}',
    '${1}',
    '${A.B}',
    '${env:}',
    '${$(id)}',
    '${a${A}}',
  ])('%s is reported as malformed', async (text) => {
    const agent = stdioAgent(`args: [${JSON.stringify(text)}]`);
    expect(await problemsOf({ agent, env })).toMatchObject([
      {
        type: 'ConfigError',
        message: 'A variable reference is malformed',
        path: 'tools[0].args[0]',
        line: 7,
        column: 12,
      },
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is an ordinary name',
    async (name) => {
      expect(await problemsOf({ agent: stdioAgent(`args: ["\${${name}}"]`), env })).toMatchObject([
        { message: `Environment variable '${name}' not found` },
      ]);
      const environment = Object.create(null);
      Object.defineProperty(environment, name, { value: 'value', enumerable: true });
      expect(await expanded(`\${${name}}`, { env: environment })).toBe('value');
    },
  );
});

describe('FR-010: references are expanded', () => {
  const env = { V: 'value' };

  it('env, args, cwd, roots and every string of config expand references', async () => {
    const agent = stdioAgent(
      'env: {A: "${V}"}',
      'args: ["${V}"]',
      'cwd: "/${V}"',
      'roots: ["/${V}"]',
      'config: {a: "${V}", b: [1, "${V}", {c: "${V}", d: true}], "${V}": x}',
    );
    expect(only(await loadAgent(agent, { env }))).toMatchObject({
      env: { A: 'value' },
      args: ['value'],
      cwd: '/value',
      roots: [{ uri: 'file:///value' }],
      config: { a: 'value', b: [1, 'value', { c: 'value', d: true }], '${V}': 'x' },
    });
  });

  it('url and headers expand references', async () => {
    const agent = remoteAgent('http', 'url: "https://${V}.example.com/${V}"', 'headers: {X: "${V}"}');
    expect(remoteOf(await loadAgent(agent, { env }))).toMatchObject({
      url: 'https://value.example.com/value',
      headers: { X: 'value' },
    });
  });

  it('no other field expands references', async () => {
    const agent = stdioAgent('tools: {allow: ["${V}"]}').replace('server: s', 'server: "${V}"');
    expect(only(await loadAgent(agent, { env }))).toMatchObject({
      server: '${V}',
      tools: { allow: ['${V}'] },
    });
  });

  it('the path of the envFile expands no references', async () => {
    const agent = stdioAgent('envFile: "${V}.env"');
    expect(await problemsOf({ agent, env, files: { 'project/value.env': 'A=b' } })).toHaveLength(1);
  });
});

describe('FR-010: env overrides envFile, and envFile the process', () => {
  const files = { 'project/.env': 'X=file\nY=file\n' };
  const env = { X: 'process', Y: 'process', Z: 'process' };

  it('the environment of the server follows this order', async () => {
    const loaded = await loadAgent(stdioAgent('envFile: .env', 'env: {X: env}'), { files, env });
    expect(only(loaded).env).toEqual({ X: 'env', Y: 'file' });
  });

  it('the value of a reference follows this order', async () => {
    const lines = ['envFile: .env', 'env: {X: env}'];
    expect(await expanded('${X} ${Y} ${Z}', { files, env }, ...lines)).toBe('env file process');
  });

  it('a reference inside env does not see env', async () => {
    const loaded = await loadAgent(stdioAgent('envFile: .env', 'env: {Y: "<${Y}>", Z: "<${Z}>"}'), {
      files,
      env,
    });
    expect(only(loaded).env).toMatchObject({ Y: '<file>', Z: '<process>' });
  });

  it('an undefined variable of the process is unset', async () => {
    expect(await problemsOf({ agent: stdioAgent('args: ["${U}"]'), env: { U: undefined } })).toHaveLength(1);
  });
});

describe('FR-010: an unset variable fails the load', () => {
  it("the error has the variable's name, its position and a fix", async () => {
    const [problem] = await problemsOf({ agent: stdioAgent('env:', '  A: x', '  B: "y${MY_API_KEY}"') });
    expect(problem).toMatchObject({
      type: 'ConfigError',
      message: "Environment variable 'MY_API_KEY' not found",
      line: 9,
      column: 10,
      path: 'tools[0].env.B',
    });
    expect(problem?.fix).toBe('set MY_API_KEY in the environment, or write ${MY_API_KEY:-default}');
  });

  it('the nearest name that is set is suggested', async () => {
    const [problem] = await problemsOf({
      agent: stdioAgent('args: ["${GITHUB_TOKN}"]'),
      env: { GITHUB_TOKEN: 'x' },
    });
    expect(problem?.fix).toContain("did you mean 'GITHUB_TOKEN'?");
  });

  it('a name of an envFile is suggested too', async () => {
    const files = { 'project/.env': 'DATABASE_URL=x\n' };
    const [problem] = await problemsOf({
      agent: stdioAgent('envFile: .env', 'args: ["${DATABASE_URI}"]'),
      files,
    });
    expect(problem?.fix).toContain("did you mean 'DATABASE_URL'?");
  });

  it('workspaceFolder is suggested for a misspelling', async () => {
    const [problem] = await problemsOf({ agent: stdioAgent('args: ["${workspacefolder}"]') });
    expect(problem?.fix).toContain("did you mean 'workspaceFolder'?");
  });

  it('each is reported, and one that occurs twice in a text is reported once', async () => {
    const problems = await problemsOf({ agent: stdioAgent('args: ["${P} ${Q} ${P}", "${P}"]') });
    expect(problems.map(({ message, path }) => `${message.split("'")[1]} ${path}`)).toEqual([
      'P tools[0].args[0]',
      'Q tools[0].args[0]',
      'P tools[0].args[1]',
    ]);
  });

  it('a default beside it does not hide that it is unset', async () => {
    expect(await problemsOf({ agent: stdioAgent('args: ["${P} ${P:-x}"]') })).toHaveLength(1);
    expect(await problemsOf({ agent: stdioAgent('args: ["${P:-x} ${P}"]') })).toHaveLength(1);
  });

  it('the load reports which variables were used and their sources', async () => {
    const files = { 'project/.env': 'F=file\n' };
    const agent = stdioAgent('envFile: .env', 'env: {E: x}', 'args: ["${P} ${F} ${E} ${D:-d}"]');
    const { uses } = await loadAgent(agent, { files, env: { P: 'process' } });
    expect(uses.map(({ name, from }) => `${name} ${from}`).sort()).toEqual([
      'D default',
      'E env',
      'F .env',
      'P environment',
    ]);
  });
});
