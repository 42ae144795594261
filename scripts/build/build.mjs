// Builds dist/: the command as bundles that start fast, and the library with all packages but one inside.
// Usage: node scripts/build/build.mjs [FOLDER]   (default: dist)
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { execa } from 'execa';
import { buildPage } from './build-page.mjs';
import { writeCharts } from './charts.mjs';
import { cacheOf, compileBundle } from './compile-bundle.cjs';
import { PATIENCE_MS, recordDaemonCache } from './record-daemon-cache.mjs';

const root = join(import.meta.dirname, '..', '..');
process.chdir(root);
const out = process.argv[2] ?? 'dist';
rmSync(out, { recursive: true, force: true });

/** @type {import('esbuild').BuildOptions} */
const common = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'warning' };
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";
/** Commands that are part of the command's main bundle: those that src/cli/run.ts imports itself. */
const preloaded = readSource('src/cli/run.ts', /import\('\.\/commands\/[^']*\/([\w-]+)\.js'\)/g);
const MAX_PATH_BYTES = Number(readSource('src/ipc/socket/socket-path.ts', /MAX_PATH_BYTES = (\d+)/g)[0]);
/** A file of src/cli/commands/TOPIC that exports one or more commands; their private helpers stand beside it. */
const commands = readdirSync('src/cli/commands', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^[^/]+\/[^/]+\.ts$/.test(file))
  .map((file) => `src/cli/commands/${file}`)
  .filter((file) => /^export const commands?\b/m.test(readFileSync(file, 'utf8')));

/** One bundle for each command, so that a command loads only what it needs. Node 20 loads CommonJS faster than ESM. */
/** @type {import('esbuild').BuildOptions} */
const command = {
  ...common,
  format: 'cjs',
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.cjs' },
  minify: true,
  mainFields: ['module', 'main'],
  // yaml's build for browsers is ESM, which lets esbuild leave out what is not used
  alias: { yaml: './node_modules/yaml/browser/index.js' },
};

/** Packages that only some herds need. Without them the daemon's bundle, which every start reads, is half as long. */
const apartOfDaemon = { sdk: '@modelcontextprotocol/client', ws: 'ws' };
/** Code that a daemon loads when a user opens the page. */
const dashboard = { dashboard: 'src/dashboard/dashboard.ts' };
/** Code that the daemon of a node of a cluster loads, with the client of NATS. (The command `cluster` has its own file.) */
const nats = { nats: 'src/cluster/cluster.ts' };
/** Packages that many commands use: one file instead of a copy of 100 kB in each of their bundles. */
const apartOfCommands = { yaml: 'yaml', execa: 'execa' };

/**
 * Bundles load these packages from their own files.
 * @param {Record<string, string>} packages by the name of their file
 * @returns {import('esbuild').Plugin}
 */
const keepApart = (packages) => ({
  name: 'keep-apart',
  setup({ onResolve }) {
    for (const [name, wanted] of Object.entries(packages)) {
      onResolve({ filter: new RegExp(`^${wanted}$`) }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: `./${name}.cjs`, external: true },
      );
    }
  },
});

/**
 * Modules that packages import and the daemon never uses: a validator of JSON Schema, for which the driver of servers gives the
 * SDK's client another one, and pino's worker threads. Their code would be read and run at every start.
 * @type {import('esbuild').Plugin}
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/validation\/ajv-provider\.js$|^thread-stream$/ }, ({ path }) => ({
      path,
      namespace: 'leave-out',
    }));
    onLoad({ filter: /.*/, namespace: 'leave-out' }, () => ({
      contents: 'export class AjvJsonSchemaValidator {}',
    }));
  },
};

await Promise.all([
  build({ ...command, entryPoints: { ...apartOfDaemon, ...apartOfCommands } }),
  build({
    ...command,
    entryPoints: { program: 'src/daemon/program.ts' },
    plugins: [
      keepApart({
        ...apartOfDaemon,
        dashboard: '\\.\\./dashboard/dashboard\\.js',
        nats: '\\.\\./\\.\\./cluster/cluster\\.js',
      }),
      leaveOut,
    ],
    // a script from a code cache can call require, but not import()
    supported: { 'dynamic-import': false },
  }),
  build({ ...command, entryPoints: nats }),
  build({ ...command, entryPoints: dashboard, plugins: [keepApart({ ws: 'ws', yaml: 'yaml' })] }),
  build({
    ...command,
    entryPoints: { main: 'src/bin/toolherd.ts' },
    banner: { js: '#!/usr/bin/env node' },
    // an old Node must be able to read it: it says that it is too old
    target: 'node12',
  }),
  build({
    ...command,
    plugins: [keepApart(apartOfCommands)],
    entryPoints: Object.fromEntries([
      ...commands.map((file) => [basename(file, '.ts'), file]).filter(([name]) => !preloaded.includes(name)),
      ['command', 'src/cli/run.ts'],
      ['report-error', 'src/cli/core/report-error.ts'],
      ['watch', 'src/cli/commands/servers/watch.ts'],
      ['status-history', 'src/cli/commands/servers/status-history.ts'],
      ['draw-chart', 'src/cli/commands/servers/draw-chart.ts'],
      ['tool-help', 'src/cli/commands/tools/tool-help.ts'],
      ['confirm', 'src/cli/ui/confirm.ts'],
      ['known-servers', 'src/cli/core/known-servers.ts'],
      ['start-daemon', 'src/cli/daemon/start.ts'],
      ['daemon', 'src/bin/daemon.ts'],
    ]),
  }),
  build({
    ...common,
    format: 'esm',
    splitting: true,
    // a script that uses the machines must load the same XState
    external: ['xstate'],
    mainFields: ['module', 'main'],
    // the packages that are CommonJS require Node's own modules
    banner: { js: REQUIRE },
    outdir: out,
    entryPoints: {
      index: 'src/index.ts',
      client: 'src/client.ts',
      machines: 'src/machines/index.ts',
      testing: 'src/testing/index.ts',
    },
  }),
]);

// `npm install --global .` links the clone, and sets this only once
chmodSync(join(out, 'bin', 'main.cjs'), 0o755);
writeCharts(out);
// it compresses the charts too
await buildPage(join(out, 'page'));
await recordCodeCaches();

/** What the first group of the pattern matches in a source file: at least one text. */
function readSource(/** @type {string} */ file, /** @type {RegExp} */ pattern) {
  const found = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, text]) => text ?? '');
  if (found.length === 0) throw new Error(`${file} has nothing that matches ${pattern}`);
  return found;
}

/** Another version of Node ignores them. See README.md in this folder. */
async function recordCodeCaches() {
  const folder = resolve(out, 'bin');
  await orWithout(recordBundleCache, join(folder, 'validate.cjs'));
  await orWithout(recordBundleCache, join(folder, 'allow.cjs'));
  await orWithout(recordCommandCache, join(folder, 'command.cjs'));
  await orWithout(recordDaemonCache, join(folder, 'program.cjs'));
}

/** A bundle cannot be used once where there are no Unix sockets or no folder to write to: it then only starts slower. */
async function orWithout(/** @type {(file: string) => Promise<void>} */ record, /** @type {string} */ file) {
  try {
    await record(file);
  } catch (error) {
    rmSync(cacheOf(file), { force: true });
    console.warn(
      `${basename(file)} was built without machine code and will start slower: ${/** @type {Error} */ (error).message}`,
    );
  }
}

/** @param {string} file */
async function recordBundleCache(file) {
  const { script, run } = compileBundle(file);
  await firstUse(run().command);
  writeFileSync(cacheOf(file), script.createCachedData());
}

/**
 * The command's first use calls a tool of a daemon that this process plays.
 * @param {string} file
 */
async function recordCommandCache(file) {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-build-'));
  const socket = join(home, 'run', 'toolherd.sock');
  mkdirSync(join(home, 'run'), 0o700);
  const tool = {
    server: 's',
    name: 't',
    input_schema: { properties: { k: { type: 'string' } }, required: ['k'] },
  };
  /** @type {Record<string, unknown>} */
  const answers = {
    'fleet/hello': { daemon: { version: '999.0.0' }, api_version: 1, agent: null },
    'fleet/tools': { tools: [tool] },
    'fleet/call': { success: true, content: [{ type: 'text', text: '' }], error: null, metadata: {} },
  };
  const answer = (/** @type {{ id: number, method: string }} */ { id, method }) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] })}\n`;
  const server = createServer((connection) => {
    createInterface({ input: connection }).on('line', (line) => connection.write(answer(JSON.parse(line))));
  });
  const env = { TOOLHERD_HOME: home, TOOLHERD_SOCKET: '' };
  const script = join(import.meta.dirname, 'record-code-cache.cjs');
  try {
    // the system would cut a longer path silently, and the socket would be left at the cut one
    if (Buffer.byteLength(socket) > MAX_PATH_BYTES) throw new Error(`${socket} is too long for a socket`);
    await once(server.listen(socket), 'listening');
    const args = [script, file, 'call', 's.t', 'k=v'];
    const { exitCode } = await execa(process.execPath, args, {
      env,
      cwd: home,
      stdio: 'ignore',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
      reject: false,
    });
    if (exitCode !== 0) throw new Error(`the first use of the command failed with ${exitCode}`);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {{ run(context: object): Promise<number> }} command */
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
