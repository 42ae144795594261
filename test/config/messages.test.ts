import { describe, expect, it } from 'vitest';
import { ConfigError, formatProblem, MCPConfigError } from '../../src/config/parse/problem.js';
import {
  loadAgent,
  makeHerd,
  problemsOf,
  refusalOf,
  remoteAgent,
  type Setting,
  stdioAgent,
} from './support.js';

const without = (text: string, line: RegExp) => text.replace(line, '');

/** The specified messages, and the shortest file for each. */
const MESSAGES: [text: string, setting: Setting][] = [
  [
    "MCPConfigError: Invalid command 'X'. Supported commands: npx, uvx, docker",
    { agent: stdioAgent().replace('npx', 'X') },
  ],
  [
    "MCPConfigError: Invalid command 'X'. Supported commands: npx, uvx, docker, deno, bunx",
    {
      agent: stdioAgent().replace('npx', 'X'),
      config: 'version: "1.0"\nsecurity: {allowed_commands: [deno, bunx]}\n',
    },
  ],
  [
    "MCPConfigError: 'command' is required for stdio transport",
    { agent: without(stdioAgent(), / +command.*\n/) },
  ],
  [
    "MCPConfigError: 'command' is required for stdio transport",
    {
      agent: without(stdioAgent('transport: stdio'), / +command.*\n/).replace('server: s', 'server: "@a/b"'),
    },
  ],
  [
    "MCPConfigError: 'url' is required for sse transport",
    { agent: without(remoteAgent('sse'), / +url.*\n/) },
  ],
  [
    "MCPConfigError: 'url' is required for websocket transport",
    { agent: without(remoteAgent('websocket'), / +url.*\n/) },
  ],
  [
    "MCPConfigError: 'url' is required for http transport",
    { agent: without(remoteAgent('http'), / +url.*\n/) },
  ],
  [
    "MCPConfigError: 'url' must use https:// (or http:// for localhost)",
    { agent: remoteAgent('sse', 'url: http://example.com') },
  ],
  [
    "MCPConfigError: 'url' must use https:// (or http:// for localhost)",
    { agent: remoteAgent('http', 'url: ftp://example.com') },
  ],
  ["MCPConfigError: 'url' must use wss:// or ws://", { agent: remoteAgent('websocket', 'url: https://a.b') }],
  [
    "ConfigError: Environment variable 'VAR_NAME' not found",
    { agent: stdioAgent('env: {A: "${VAR_NAME}"}') },
  ],
  [
    "ConfigError: Environment variable 'MY_API_KEY' not found",
    { agent: stdioAgent('env: {API_KEY: "${MY_API_KEY}"}') },
  ],
  [
    "ValidationError: 'server' must be a non-empty identifier",
    { agent: stdioAgent().replace('server: s', 'server: ""') },
  ],
  [
    "ValidationError: 'server' must be a non-empty identifier",
    { agent: without(stdioAgent(), / +server.*\n/) },
  ],
];

describe('FR-026: the exact specified messages', () => {
  it.each(MESSAGES)('%s', async (text, setting) => {
    const [problem, ...others] = await problemsOf(setting);
    expect(others).toEqual([]);
    expect(`${problem?.type}: ${problem?.message}`).toBe(text);
  });

  it.each(MESSAGES)(
    'the message has "error:" before it, and file, line, column, path and fix after it: %s',
    async (text, setting) => {
      const herd = makeHerd(setting);
      const error = await refusalOf(herd.load());
      const { line, column, path, fix } = error.problems[0]!;
      expect(error.message).toBe(
        `error: ${text}\n  at ${herd.agentFile}:${line}:${column} (${path})\n  fix: ${fix}`,
      );
      expect(fix.length).toBeGreaterThan(10);
    },
  );

  it('the file as a whole has no path', () => {
    const place = { type: 'ConfigError' as const, file: '/x', line: 1, column: 1 };
    expect(formatProblem({ ...place, message: 'm', fix: 'f', path: '' }, 'warning')).toBe(
      'warning: ConfigError: m\n  at /x:1:1\n  fix: f',
    );
  });
});

describe('the class of the error', () => {
  it('is MCPConfigError when only entries have problems, else ConfigError', async () => {
    const entry = await refusalOf(loadAgent('tools:\n  - {name: a, type: mcp, description: d, server: s}\n'));
    expect(entry).toBeInstanceOf(MCPConfigError);
    expect(entry).toBeInstanceOf(ConfigError);
    const file = await refusalOf(loadAgent('tools: 1\n'));
    expect(file).toBeInstanceOf(ConfigError);
    expect(file).not.toBeInstanceOf(MCPConfigError);
  });
});

it.each([
  ['websocket', 'wss'],
  ['http', 'https'],
  ['sse', 'https'],
] as const)('the fix for a missing url of %s has the scheme %s', async (transport, scheme) => {
  const [problem] = await problemsOf({ agent: without(remoteAgent(transport), / +url.*\n/) });
  expect(problem?.fix).toBe(`add 'url: ${scheme}://…'`);
});

it('the fix for an absent server field says what the field is for, beside a command', async () => {
  const [problem] = await problemsOf({ agent: without(stdioAgent(), / +server.*\n/) });
  expect(problem?.fix).toBe(
    "add the field 'server': a name for the package or service, for people; 'command' and 'args' say what runs",
  );
});
