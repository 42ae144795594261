import { describe, expect, it } from 'vitest';
import { type Malformed, unmark } from './corpus/definition.js';
import { COMMON, FOREIGN, IDENTITY, PROCESS, REMOTE } from './corpus/entries.js';
import { FILES, SOURCES, SYNTAX } from './corpus/files.js';
import { makeHerd, problemsOf, refusalOf, stdioAgent } from './support.js';

const GROUPS = { IDENTITY, PROCESS, REMOTE, FOREIGN, COMMON, FILES, SYNTAX, SOURCES };
const ALL = Object.values(GROUPS).flat();

describe('SC-004 FR-026: every malformed definition is refused, with its line, column and path', () => {
  describe.each(Object.entries(GROUPS))('%s', (_, definitions) => {
    it.each(definitions)('$name', async ({ agent, config, path, says, fix = '', files, env }: Malformed) => {
      const { text, line, column } = unmark(agent ?? config ?? '');
      const herd = makeHerd({
        ...(agent === undefined ? { config: text } : { agent: text }),
        ...(files === undefined ? {} : { files }),
        ...(env === undefined ? {} : { env }),
      });
      const { problems } = await refusalOf(herd.load());
      expect(problems).toHaveLength(1);
      const [problem] = problems;
      expect(problem).toMatchObject({ line, column, path });
      expect(problem?.file).toBe(agent === undefined ? herd.configFile : herd.agentFile);
      expect(problem?.message).toContain(says);
      expect(problem?.fix).toContain(fix);
      expect(problem?.fix).not.toBe('');
    });
  });

  it('the corpus has its full size and no duplicates', () => {
    const texts = ALL.map(({ agent, config, files, env }) => JSON.stringify([agent, config, files, env]));
    expect(new Set(texts).size).toBe(ALL.length);
    expect(ALL.length).toBeGreaterThanOrEqual(110);
  });
});

describe('FR-026: all errors of a file are reported at once', () => {
  const places = async (setting: Parameters<typeof problemsOf>[0]) =>
    (await problemsOf(setting)).map(({ line, path }) => `${line} ${path}`);

  it('several in one entry, in the order of the file', async () => {
    const agent = stdioAgent(
      'request_timeout: 0',
      'encoding: none',
      'timeout: 5',
      'zebra: 1',
      'args: [1, a, 2]',
    );
    expect(await places({ agent })).toEqual([
      '7 tools[0].request_timeout',
      '8 tools[0].encoding',
      '9 tools[0].timeout',
      '10 tools[0].zebra',
      '11 tools[0].args[0]',
      '11 tools[0].args[2]',
    ]);
  });

  it('an unset variable beside a field of the wrong shape', async () => {
    const agent = stdioAgent('request_timeout: 0', 'env: {A: "${NOPE}"}', 'args: ["${NEVER}"]');
    expect(await places({ agent })).toEqual([
      '7 tools[0].request_timeout',
      '8 tools[0].env.A',
      '9 tools[0].args[0]',
    ]);
  });

  it('an unset variable beside a missing plugin', async () => {
    const agent = stdioAgent('plugin_dir: nowhere', 'env: {A: "${NOPE}"}');
    expect(await places({ agent })).toEqual(['7 tools[0].plugin_dir', '8 tools[0].env.A']);
  });

  it('a refused name beside a value of the wrong type', async () => {
    const agent = stdioAgent('env: {PORT: 8080, PATH: /evil}');
    expect(await places({ agent })).toEqual(['7 tools[0].env.PORT', '7 tools[0].env.PATH']);
  });

  it('a duplicate name beside an entry with another problem', async () => {
    const agent = `${stdioAgent('request_timeout: 0')}${stdioAgent('spares: 1').slice('tools:\n'.length)}`;
    expect(await places({ agent })).toEqual([
      '7 tools[0].request_timeout',
      '8 tools[1].name',
      '13 tools[1].spares',
    ]);
  });

  it('a missing url and a field of another transport', async () => {
    const agent = 'tools:\n  - {name: a, type: mcp, server: s, transport: sse, command: npx}\n';
    expect(await places({ agent })).toEqual(['2 tools[0]', '2 tools[0].command']);
  });

  it('the errors of both files, the global one and the agent file, are reported together', async () => {
    const herd = makeHerd({
      agent: stdioAgent('zebra: 1'),
      config:
        'version: "1.0"\nmcp_servers:\n  - {name: g, server: s, command: bash}\ndaemon: {max_starting: 0}\n',
    });
    const { problems } = await refusalOf(herd.load());
    expect(new Set(problems.map(({ file }) => file))).toEqual(new Set([herd.configFile, herd.agentFile]));
    expect(problems).toHaveLength(3);
  });

  it('one wrong setting is one problem: the valid settings still apply', async () => {
    const config = `version: "1.0"
daemon: {log_level: loud}
security: {allowed_commands: [deno], allow_http: [intra]}
mcp_servers:
  - {name: a, server: s, command: deno}
  - {name: b, server: s, transport: http, url: "http://intra/mcp"}
`;
    expect(await places({ config })).toEqual(['2 daemon.log_level']);
    const both = config.replace('allow_http', 'pin: maybe, allow_http');
    expect(await places({ config: both })).toEqual(['2 daemon.log_level', '3 security.pin']);
  });

  it('a hundred wrong entries are a hundred problems', async () => {
    const entries = Array.from(
      { length: 100 },
      (_, index) => `  - {name: n${index}, type: mcp, server: s, command: bash}`,
    );
    expect(await problemsOf({ agent: `tools:\n${entries.join('\n')}\n` })).toHaveLength(100);
  });

  it('a field of a wrong shape is not reported as missing too', async () => {
    expect(await places({ agent: stdioAgent().replace('npx', '[npx]') })).toEqual(['6 tools[0].command']);
    expect(await places({ agent: stdioAgent().replace('command', 'comand') })).toEqual(['6 tools[0].comand']);
  });

  it('several syntax errors', async () => {
    const problems = await problemsOf({ agent: 'a: @x\nb: @y\nc: `z\n' });
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3]);
  });
});
