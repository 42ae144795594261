// Builds dist/: the command as bundles that start fast, and the library with its dependencies left outside.
// Usage: node scripts/build.mjs [FOLDER]   (default: dist)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { build } from 'esbuild';
import { keepDaemon, PATIENCE_MS } from './keep-daemon.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
const out = process.argv[2] ?? 'dist';
rmSync(out, { recursive: true, force: true });

const common = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'warning' };
/** They are in the command itself (see src/cli/run.ts). */
const atHand = ['call', 'status'];
/** As in src/ipc/socket/socket-path.ts. */
const MAX_PATH_BYTES = 103;
/** A file of src/cli/commands/TOPIC that exports one or more commands; their private helpers stand beside it. */
const commands = readdirSync('src/cli/commands', { recursive: true })
  .filter((file) => /^[^/]+\/[^/]+\.ts$/.test(file))
  .map((file) => `src/cli/commands/${file}`)
  .filter((file) => /^export const commands?\b/m.test(readFileSync(file, 'utf8')));

/** One bundle a command: it loads what it needs and nothing else. CommonJS, because Node 20 loads that faster. */
const command = {
  ...common,
  format: 'cjs',
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.cjs' },
  minify: true,
  mainFields: ['module', 'main'],
  // yaml's build for browsers is ESM: what is not used is left out.
  alias: { yaml: './node_modules/yaml/browser/index.js' },
};

/** What only some herds need has files of its own: the daemon's is half as long without, and is read with every start. */
const aside = { sdk: '@modelcontextprotocol/client', ws: 'ws' };
const leaveAside = {
  name: 'leave-aside',
  setup({ onResolve }) {
    for (const [name, wanted] of Object.entries(aside)) {
      onResolve({ filter: new RegExp(`^${wanted}$`) }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: `./${name}.cjs`, external: true },
      );
    }
  },
};

await Promise.all([
  build({ ...command, entryPoints: aside }),
  build({
    ...command,
    entryPoints: { program: 'src/daemon/program.ts' },
    plugins: [leaveAside],
    // a script that comes compiled can require, and not import
    supported: { 'dynamic-import': false },
  }),
  build({ ...command, entryPoints: { main: 'src/bin/toolherd.ts' }, banner: { js: '#!/usr/bin/env node' } }),
  build({
    ...command,
    entryPoints: Object.fromEntries([
      ...commands.map((file) => [basename(file, '.ts'), file]).filter(([name]) => !atHand.includes(name)),
      ['command', 'src/cli/run.ts'],
      ['report-error', 'src/cli/core/report-error.ts'],
      ['watch', 'src/cli/commands/servers/watch.ts'],
      ['confirm', 'src/cli/ui/confirm.ts'],
      ['start-daemon', 'src/cli/daemon/start.ts'],
      ['daemon', 'src/bin/daemon.ts'],
    ]),
  }),
  build({
    ...common,
    format: 'esm',
    splitting: true,
    packages: 'external',
    outdir: out,
    entryPoints: {
      index: 'src/index.ts',
      client: 'src/client.ts',
      machines: 'src/machines/index.ts',
      testing: 'src/testing/index.ts',
    },
  }),
]);

await keepMachineCode();

/**
 * Keeps V8's machine code for the bundles that are not tiny. It is taken after a first use, so that the functions
 * which that use needs are in it. Another version of Node ignores it (see src/bin/load-bundle.ts).
 */
async function keepMachineCode() {
  const folder = resolve(out, 'bin');
  await orGoWithout(keepVerb, join(folder, 'validate.cjs'));
  await orGoWithout(keepVerb, join(folder, 'allow.cjs'));
  await orGoWithout(keepCommand, join(folder, 'command.cjs'));
  await orGoWithout(keepDaemon, join(folder, 'program.cjs'));
}

/** Where there are no Unix sockets, or nowhere to write, nothing can be used: what is built there only starts slower. */
async function orGoWithout(keep, file) {
  try {
    await keep(file);
  } catch (error) {
    rmSync(`${file}.${process.arch}.cache`, { force: true });
    console.warn(`${basename(file)} was built without machine code and will start slower: ${error.message}`);
  }
}

async function keepVerb(file) {
  const script = new Script(wrap(readFileSync(file, 'utf8')), { filename: file });
  const module = { exports: {} };
  script
    .runInThisContext()
    .call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  await firstUse(module.exports.command);
  writeFileSync(`${file}.${process.arch}.cache`, script.createCachedData());
}

/** The command itself is used in a process of its own, to call a tool of a daemon that is none. */
async function keepCommand(file) {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-build-'));
  const socket = join(home, 'run', 'toolherd.sock');
  mkdirSync(join(home, 'run'), 0o700);
  const tool = {
    server: 's',
    name: 't',
    input_schema: { properties: { k: { type: 'string' } }, required: ['k'] },
  };
  const answers = {
    'fleet/hello': { daemon: { version: '999.0.0' }, api_version: 1, agent: null },
    'fleet/tools': { tools: [tool] },
    'fleet/call': { success: true, content: [{ type: 'text', text: '' }], error: null, metadata: {} },
  };
  const answer = ({ id, method }) => `${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] })}\n`;
  const server = createServer((connection) => {
    createInterface({ input: connection }).on('line', (line) => connection.write(answer(JSON.parse(line))));
  });
  const env = { ...process.env, TOOLHERD_HOME: home, TOOLHERD_SOCKET: '' };
  const script = join(root, 'scripts', 'keep-compiled.cjs');
  const limits = { timeout: PATIENCE_MS, killSignal: 'SIGKILL' };
  try {
    // a longer path is cut without a word, and the socket then lies where nobody takes it away
    if (Buffer.byteLength(socket) > MAX_PATH_BYTES) throw new Error(`${socket} is too long for a socket`);
    await once(server.listen(socket), 'listening');
    const args = [script, file, 'call', 's.t', 'k=v'];
    const child = spawn(process.execPath, args, { env, cwd: home, stdio: 'ignore', ...limits });
    const [status] = await once(child, 'exit');
    if (status !== 0) throw new Error(`the first use of the command failed with ${status}`);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The same text as in src/bin/load-bundle.ts; a test compares what comes of it. */
function wrap(source) {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

async function firstUse(command) {
  const cwd = mkdtempSync(join(tmpdir(), 'toolherd-build-'));
  const entry = 'type: mcp, description: d, server: s';
  const stdio = `- {name: a, ${entry}, command: npx, args: [-y, "\${X:-y}"], env: {K: v}}`;
  const http = `- {name: b, ${entry}, transport: http, url: "https://example.com", headers: {A: "\${X:-y}"}}`;
  mkdirSync(join(cwd, 'home'));
  writeFileSync(join(cwd, 'home', 'config.yaml'), 'version: "1.0"\nsecurity: {trust: ask}\n');
  writeFileSync(join(cwd, 'agent.yaml'), `tools:\n  ${stdio}\n  ${http}\n`);
  const silent = () => {};
  const status = await command.run({
    args: { files: [] },
    options: { yes: true },
    globals: {},
    output: { isJson: false, isQuiet: true, print: silent, json: silent, note: silent, error: silent },
    paths: {
      configFile: join(cwd, 'home', 'config.yaml'),
      stateFolder: cwd,
      trustFile: join(cwd, 'trust.json'),
    },
    environment: {},
    userHome: cwd,
    cwd,
    isInteractive: () => false,
  });
  rmSync(cwd, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the first use of a command failed with ${status}`);
}
