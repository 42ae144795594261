import { describe, expect, it } from 'vitest';
import { OWN_TOOL_NAMES } from '../../src/shared/mcp/surface.js';
import { allow, loadGlobal, loadHerd, makeHerd, problemsOf, trustRefusalOf } from './support.js';

const SERVERS =
  'version: "1.0"\nmcp_servers:\n  - {name: git, description: d, server: s, command: npx}\n  - {name: my.hub, description: d, server: s, command: npx}\n';
const config = (profiles: string) => `${SERVERS}profiles: ${profiles}\n`;
const profilesOf = async (profiles: string) => (await loadGlobal(config(profiles))).profiles;
const messagesOf = async (profiles: string) =>
  (await problemsOf({ config: config(profiles) })).map(({ message, fix }) => `${message}; ${fix}`);
const warningsOf = async (profiles: string) =>
  (await loadGlobal(config(profiles))).warnings.map(({ path, message }) => `${path}: ${message}`);

describe('profiles of a config', () => {
  it('have every field, or the default of each', async () => {
    const whole =
      '{description: d, servers: [git], tools: ["git.*"], rename: {git.log: history}, describe: {git.log: words}, defaults: {git.log: {n: 3}}, surface: {mode: search, always: [git.log]}}';
    const profiles = await profilesOf(`{review: ${whole}, all: }`);
    expect([...profiles.keys()]).toEqual(['review', 'all']);
    expect(profiles.get('review')).toMatchObject({
      servers: ['git'],
      tools: ['git.*'],
      rename: { 'git.log': 'history' },
      describe: { 'git.log': 'words' },
      defaults: { 'git.log': { n: 3 } },
    });
    // what it leaves out is that of the daemon
    expect([...profiles.values()].map(({ surface }) => surface)).toEqual([
      { mode: 'search', always: ['git.log'] },
      {},
    ]);
    expect(profiles.get('all')).toMatchObject({ servers: undefined, tools: ['*'], rename: {}, defaults: {} });
  });

  it.each([
    ['[]', "'profiles' must be a map"],
    ['{"a/b": {}}', "'a/b' cannot be the name of a profile"],
    ['{a: {tols: []}}', "Unknown field 'tols'; did you mean 'tools'?"],
    ['{a: {tools: git}}', "'tools' must be a list of non-empty texts"],
    ['{a: {rename: {log: x}}}', "'log' in 'rename' is not server.tool"],
    ['{a: {rename: {git.log: "a b"}}}', 'must be 1 to 64 letters'],
    ['{a: {defaults: {git.log: 3}}}', 'must be a map of arguments'],
    ['{a: {rename: {git.log: x, git.show: x}}}', "'git.log' and 'git.show' would both be called 'x'"],
    ['{a: {rename: {git.log: call_tool}}}', "'call_tool' is a tool of toolherd in search mode"],
    ['{a: {surface: {mode: serch}}}', "did you mean 'search'?"],
    ['{a: {surface: {separator: _}}}', "Unknown field 'separator' in 'surface'"],
    ['{a: {surface: {above_tokens: -1}}}', "'surface.above_tokens' must be a whole number"],
    ['{a: {rename: {git.log: my-hub__log}}}', "'my-hub__log' begins like the tools of 'my.hub'"],
  ])('%s is refused with its reason', async (profiles, message) => {
    const messages = await messagesOf(profiles);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(message);
  });

  it.each(OWN_TOOL_NAMES)('a rename to %s is refused with its file and line', async (name) => {
    const text = config(`\n  a:\n    rename:\n      git.log: ${name}`);
    const [problem, ...others] = await problemsOf({ config: text });
    expect([others, problem]).toEqual([
      [],
      expect.objectContaining({
        file: expect.stringContaining('config.yaml'),
        line: 8,
        path: 'profiles.a.rename["git.log"]',
      }),
    ]);
  });

  it.each([
    ['{a: {servers: [gti]}}', ["profiles.a.servers[0]: 'gti' matches no server"]],
    ['{a: {tools: ["gti.*", "git.*"]}}', ["profiles.a.tools[0]: 'gti.*' matches no tool"]],
    ['{a: {surface: {always: ["gti.*"]}}}', ["profiles.a.surface.always[0]: 'gti.*' matches no tool"]],
    ['{a: {tools: ["git.*"], describe: {my.hub.x: w}}}', ["'my.hub.x' in 'describe' is no tool"]],
    ['{a: {servers: [git, "my.*"], tools: ["my.hub.*", "*.log"]}}', []],
  ])('%s has warnings for what fits nothing', async (profiles, expected) => {
    const warnings = await warningsOf(profiles);
    for (const text of expected) expect(warnings.join('\n')).toContain(text);
    expect(warnings.length > 0).toBe(expected.length > 0);
  });

  it('agent files replace global profiles by those of the same name, and name servers of both files', async () => {
    const { profiles, warnings } = await loadHerd({
      config: config('{a: {tools: ["git.*"]}, b: {}}'),
      agent:
        'tools:\n  - {name: own, type: mcp, description: d, server: s, command: npx}\nprofiles: {a: {servers: [git, own]}}\n',
    });
    expect([...profiles.keys()]).toEqual(['a', 'b']);
    expect(profiles.get('a')).toMatchObject({ servers: ['git', 'own'], tools: ['*'] });
    expect(warnings).toEqual([]);
  });

  it('agent files with profiles need to be allowed, even if they run nothing', async () => {
    const herd = makeHerd({ config: SERVERS, agent: 'profiles: {a: {describe: {git.log: words}}}\n' });
    const { trustFile } = herd;
    expect((await trustRefusalOf(herd.load({ trustFile }))).reason).toBe('never');
    await allow(herd);
    expect([...(await herd.load({ trustFile })).profiles.keys()]).toEqual(['a']);
  });
});
