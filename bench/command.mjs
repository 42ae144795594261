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
