import { describe, expect, it } from 'vitest';
import { loadGlobal, problemsOf } from './support.js';

const SERVER = 'mcp_servers:\n  - {name: NAME, description: d, server: s, command: npx}\n';
const config = (herds: string, server = 'git') =>
  `version: "1.0"\n${SERVER.replace('NAME', `"${server}"`)}herds: ${herds}\n`;
const messagesOf = async (herds: string, server?: string) =>
  (await problemsOf({ config: config(herds, server) })).map(({ message, fix }) => `${message}; ${fix}`);

describe('herds of a config', () => {
  it('become connections that are kept like servers, behind the servers of the file', async () => {
    const { servers } = await loadGlobal(
      config(
        '[{name: desk, ssh: me@desk, servers: {deny: [x]}, command: /opt/toolherd}, {name: box, socket: /s}]',
      ),
    );
    expect(servers.map(({ name }) => name)).toEqual(['git', 'desk', 'box']);
    expect(servers[1]).toMatchObject({
      ...{ transport: 'ssh', address: 'me@desk', command: '/opt/toolherd', start: 'eager' },
      servers: { allow: ['*'], deny: ['x'] },
    });
    expect(servers[2]).toMatchObject({ transport: 'socket', address: '/s', command: 'toolherd' });
  });

  it.each([
    ['{}', "'herds' must be a list"],
    ['[{ssh: desk}]', "'name' is required"],
    ['[{name: a/b, ssh: desk}]', "'name' must be at most 32 letters"],
    ['[{name: desk}]', "A herd has either 'ssh' or 'socket'"],
    ['[{name: desk, ssh: desk, socket: /s}]', "either 'ssh' or 'socket', not both"],
    ['[{name: desk, ssh: -oProxyCommand=x}]', 'must be a destination of ssh'],
    ['[{name: desk, ssh: "desk x"}]', 'must be a destination of ssh'],
    ['[{name: desk, socket: run/s}]', 'must be the full path of a socket'],
    ['[{name: desk, shh: desk}]', "Unknown field 'shh'; did you mean 'ssh'?"],
    ['[{name: desk, ssh: a}, {name: desk, ssh: b}]', "The name 'desk' is used by two herds"],
    ['[{name: git, ssh: desk}]', "'git' is also the name of a herd"],
  ])('%s is refused with its reason', async (herds, message) => {
    const messages = await messagesOf(herds);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(message);
  });

  it('leave the names of their servers to them; another server may have a slash in its name', async () => {
    const herd = '[{name: desk, ssh: desk}]';
    expect(await messagesOf(herd, 'desk/git')).toEqual([
      "'desk/git' would be the name of a server of the herd 'desk'; rename the server or the herd",
    ]);
    const { servers } = await loadGlobal(config(herd, 'microsoft/git'));
    expect(servers[0]?.name).toBe('microsoft/git');
  });

  it('do not belong in an agent file, which comes with a project', async () => {
    const agent = 'tools: []\nherds: [{name: desk, ssh: desk}]\n';
    const [problem] = await problemsOf({ config: 'version: "1.0"\n', agent });
    expect(problem?.message).toContain("'herds' does not belong in an agent file");
    expect(problem?.fix).toContain('config.yaml');
  });

  it('have servers that profiles may name before they are known', async () => {
    const { warnings } = await loadGlobal(
      `${config('[{name: desk, ssh: desk}]')}profiles: {a: {servers: ["desk/*"], tools: ["desk/x.*"], rename: {desk/x.y: z}, surface: {always: ["desk/x.y"]}}}\n`,
    );
    expect(warnings).toEqual([]);
  });
});
