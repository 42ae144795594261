// What one run of the command costs, against a bare Node.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, makeHome, median, root } from './tools.mjs';

const AGENT = `tools:
  - name: files
    description: Read and write files in workspace
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    env:
      TOKEN: "\${TOKEN}"
  - name: cloud
    description: Cloud service
    type: mcp
    server: cloud
    transport: http
    url: https://example.com/mcp
    headers:
      Authorization: "Bearer \${TOKEN}"
`;

/** The least that a script can do: one request over the socket, the text of its answer printed. */
const BARE = `const socket = require('node:net').connect(process.argv[2]);
const params = { server: 'demo', tool: 'echo', arguments: { text: 'hi' } };
socket.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'fleet/call', params }) + '\\n');
let text = '';
socket.setEncoding('utf8').on('data', (chunk) => {
  text += chunk;
  if (!text.endsWith('\\n')) return;
  console.log(JSON.parse(text).result.content[0].text);
  socket.end();
});
`;

/** `toolherd call` against a warm daemon, and a bare script that sends the same request. */
export async function measureCall(rounds) {
  const { home, env, remove } = makeHome();
  const command = join(root, 'dist', 'bin', 'main.cjs');
  const entry = {
    name: 'demo',
    description: 'd',
    server: 's',
    command: process.execPath,
    args: [join(root, 'bench', 'echo.mjs')],
  };
  const config = { version: '1.0', security: { allowed_commands: [process.execPath] }, mcp_servers: [entry] };
  writeFileSync(join(env.TOOLHERD_HOME, 'config.yaml'), JSON.stringify(config));
  writeFileSync(join(home, 'bare.cjs'), BARE);
  const run = (...args) => {
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: home, env, encoding: 'utf8' });
    if (status !== 0 || stdout !== 'hi\n')
      throw new Error(`${args.join(' ')} failed with ${status}: ${stdout}`);
  };
  const call = () => run(command, 'call', 'demo.echo', 'text=hi');
  call();
  const times = await interleave(rounds, {
    bare: () => run('bare.cjs', join(env.TOOLHERD_HOME, 'run', 'toolherd.sock')),
    call,
  });
  spawnSync(process.execPath, [command, 'down'], { env, stdio: 'ignore' });
  remove();
  const ms = median(times.call);
  const against = 'a bare script with the same request';
  return [
    { what: '`toolherd call demo.echo text=hi`', ms, against, ratio: ms / median(times.bare), goal: 1.15 },
  ];
}

export async function measureCommand(rounds) {
  const { home, env, remove } = makeHome();
  writeFileSync(join(home, 'agent.yaml'), AGENT);
  const command = join(root, 'dist', 'bin', 'main.cjs');
  const run =
    (...args) =>
    () => {
      const { status } = spawnSync(process.execPath, args, {
        cwd: home,
        env: { ...env, TOKEN: 'x' },
        stdio: 'ignore',
      });
      if (status !== 0) throw new Error(`${args.join(' ')} failed with ${status}`);
    };
  const times = await interleave(rounds, {
    'node -e 0': run('-e', '0'),
    'toolherd version': run(command, 'version'),
    'toolherd validate': run(command, 'validate', 'agent.yaml'),
  });
  remove();
  const floor = median(times['node -e 0']);
  const goals = { 'toolherd validate': 2.5 };
  return Object.entries(times).map(([name, list]) => ({
    what: `\`${name}\``,
    ms: median(list),
    against: '`node -e 0`',
    ratio: median(list) / floor,
    goal: goals[name],
  }));
}
