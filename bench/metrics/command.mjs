// What one run of the command costs, against a bare Node and against a script that does no more than ask.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../children.mjs';
import { interleave, median } from '../numbers.mjs';
import { startPeers } from '../peers/start-peers.mjs';
import { COMMAND, startToolherd } from '../systems/toolherd.mjs';

/** The least that a script can do: one request over the socket, the text of its answer printed. */
const BARE = `const socket = require('node:net').connect(process.argv[2]);
const params = { server: 'e0', tool: 'echo', arguments: { text: 'hi' } };
socket.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'fleet/call', params }) + '\\n');
let text = '';
socket.setEncoding('utf8').on('data', (chunk) => {
  text += chunk;
  if (!text.endsWith('\\n')) return;
  console.log(JSON.parse(text).result.content[0].text);
  socket.end();
});
`;

const AGENT = `tools:
  - name: files
    description: Read and write files in workspace
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    env: {TOKEN: "\${TOKEN}"}
  - name: cloud
    description: Cloud service
    type: mcp
    server: cloud
    transport: http
    url: https://example.com/mcp
    headers: {Authorization: "Bearer \${TOKEN}"}
`;

/** They take seconds. */
const PEER_ROUNDS = 5;

export async function measureCommand(/** @type {Bench.MetricOptions} */ { rounds, peers, note }) {
  const herd = await startToolherd(['e0']);
  const folder = herd.folder;
  writeFileSync(join(folder, 'bare.cjs'), BARE);
  writeFileSync(join(folder, 'other.yaml'), AGENT);
  const env = { ...herd.env, TOKEN: 'x' };
  const node = (/** @type {string[]} */ ...args) => ({
    command: process.execPath,
    args,
    options: { cwd: folder, env },
  });
  /** @type {Record<string, Bench.CommandLine>} */
  const commands = {
    'node -e 0': node('-e', '0'),
    'a bare script': { ...node('bare.cjs', herd.path), says: 'hi' },
    'toolherd call': { ...node(COMMAND(), 'call', 'e0.echo', 'text=hi'), says: 'hi' },
    'toolherd version': node(COMMAND(), 'version'),
    'toolherd validate': node(COMMAND(), 'validate', 'other.yaml'),
  };
  const attending = await startPeers(peers, ['e0'], note);
  for (const { name, system } of attending) {
    if (system.command) commands[`${name} call`] = { ...system.command, says: 'hi', isPeer: true };
    else note(`left out here: ${name}: it has no command that calls a tool`);
  }
  try {
    const times = await interleave({
      rounds,
      warmups: 2,
      /** @type {Record<string, any>} */
      systems: commands,
      run: (command, name, round) =>
        command.isPeer && (round < 0 || round >= PEER_ROUNDS) ? undefined : run(command, name),
    });
    const entries = Object.entries(times).map(([name, list]) => [
      name,
      median(list.flatMap((ms) => (ms === undefined ? [] : [ms]))),
    ]);
    return { command: Object.fromEntries(entries) };
  } finally {
    await Promise.all(attending.map(({ agent }) => agent.close()));
    await Promise.all([herd, ...attending.map(({ system }) => system)].map((system) => system.close()));
  }
}

async function run(
  /** @type {{ command: any, args: string[], options: any, says: any }} */ { command, args, options, says },
  /** @type {string} */ name,
) {
  const begun = performance.now();
  const child = start(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (/** @type {string} */ text) => (said += text));
  const [code] = await once(child, 'close');
  const ms = performance.now() - begun;
  if (code !== 0 || (says && !said.includes(says))) throw new Error(`${name} ended with ${code}: ${said}`);
  return ms;
}
