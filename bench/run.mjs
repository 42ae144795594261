// Measures toolherd against a floor in the same run: systems are interleaved in rounds, so that a busy moment of the
// machine hits all of them, and only ratios of medians are reported.
// Usage: npm run bench [-- --quick]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const rounds = process.argv.includes('--quick') ? 15 : 60;
const home = mkdtempSync(join(tmpdir(), 'toolherd-bench-'));
const command = join(root, 'dist', 'bin', 'main.cjs');

writeFileSync(
  join(home, 'agent.yaml'),
  `tools:
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
`,
);

/** NODE_EXTRA_CA_CERTS adds 60 ms to every start of Node 20; it is no part of what is measured. */
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, TOOLHERD_HOME: join(home, 'home'), TOKEN: 'x' };

const systems = {
  'node -e 0': ['-e', '0'],
  'toolherd version': [command, 'version'],
  'toolherd validate': [command, 'validate', 'agent.yaml'],
};

const times = Object.fromEntries(Object.keys(systems).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, args] of Object.entries(systems)) {
    const start = process.hrtime.bigint();
    const { status } = spawnSync(process.execPath, args, { cwd: home, env, stdio: 'ignore' });
    if (status !== 0) throw new Error(`${name} failed with ${status}`);
    times[name].push(Number(process.hrtime.bigint() - start) / 1e6);
  }
}
rmSync(home, { recursive: true, force: true });

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const floor = median(times['node -e 0']);
const goals = { 'toolherd validate': 2.5 };

console.log(
  `node ${process.version}, ${cpus().length} cores, load average ${loadavg()[0].toFixed(2)}, ${rounds} rounds\n`,
);
console.log('| command | median ms | against `node -e 0` | goal |');
console.log('|---|---|---|---|');
for (const [name, list] of Object.entries(times)) {
  const goal = goals[name] === undefined ? '' : `≤ ${goals[name]}`;
  console.log(
    `| \`${name}\` | ${median(list).toFixed(1)} | ${(median(list) / floor).toFixed(2)} | ${goal} |`,
  );
}
