// Runs the official conformance scenarios against toolherd, and writes the table of docs/CONFORMANCE.md: those for
// clients against its upstream side, and those for servers through /s/SERVER/mcp of a daemon.
// The suite and the Node it needs are installed into .cache/ on the first run.
// Usage: npm run conformance [-- --side client|server] [--spec 2025-11-25] [--only auth/] [--jobs 2] [--verbose]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { execa, execaSync } from 'execa';
import { install, installNode } from '../shared/install.mjs';
import { markdownTable } from '../shared/markdown.mjs';

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, '.cache', 'conformance');
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const SPECS = ['2025-11-25', '2026-07-28'];
const SIDES = /** @type {const} */ (['client', 'server']);
const { values: flags } = parseArgs({
  options: {
    side: { type: 'string' },
    spec: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});

/** Scenarios that cannot pass, each with the reason. Everything else has to. */
const ROOTS = 'roots are what the config says, and never asked of a client';
/** @type {Record<Side, Record<string, string>>} */
const EXCUSED = {
  client: {},
  server: {
    'input-required-result-basic-elicitation':
      'the question has to be called `user_name`; those of a server of the handshake era have no names',
    'input-required-result-basic-list-roots': ROOTS,
    'input-required-result-multiple-input-requests': ROOTS,
  },
};

const node = installNode('24');
const suite = join(
  install(SUITE, { folder: 'conformance' }).folder,
  'node_modules',
  '@modelcontextprotocol',
  'conformance',
  'dist',
  'index.js',
);
const client = join(cache, 'client.mjs');
const dist = join(cache, 'dist');
const results = join(cache, 'results');

rmSync(results, { recursive: true, force: true });
/** @typedef {'client' | 'server'} Side */
/** @typedef {{ side: Side, name: string, spec: string, total: number, passed: number, failed: string[] }} Row */

/** @type {Row[]} */
const rows = [];
for (const side of SIDES.filter((name) => flags.side === undefined || flags.side === name)) {
  if (side === 'client') await bundle();
  else execaSync(process.execPath, [join(root, 'scripts', 'build', 'build.mjs'), dist], { stdio: 'inherit' });
  for (const spec of SPECS.filter((name) => flags.spec === undefined || flags.spec === name)) {
    await runAll(side, spec);
  }
}
rows.sort(
  (a, b) => a.side.localeCompare(b.side) || a.spec.localeCompare(b.spec) || a.name.localeCompare(b.name),
);
if (flags.only === undefined && flags.spec === undefined && flags.side === undefined) {
  writeFileSync(join(root, 'docs', 'CONFORMANCE.md'), page());
}
for (const side of SIDES) for (const spec of SPECS) console.log(`${side} ${summary(side, spec)}`);
const isExcused = (/** @type {Row} */ { side, name }) => EXCUSED[side][name] !== undefined;
process.exitCode = rows.some((row) => row.failed.length > 0 && !isExcused(row)) ? 1 : 0;

/**
 * @param {Side} side
 * @param {string} spec
 */
async function runAll(side, spec) {
  const isWanted = (/** @type {string} */ name) => flags.only === undefined || name.includes(flags.only);
  const queue = scenariosOf(side, spec).filter(isWanted);
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const row = await run(side, name, spec);
      rows.push(row);
      const verdict = row.failed.length === 0 ? 'ok    ' : 'FAILED';
      console.log(`${side}  ${spec}  ${verdict}  ${row.passed}/${row.total}  ${name}`);
      for (const check of row.failed) console.log(`    ${check}`);
    }
  };
  await Promise.all(Array.from({ length: Number(flags.jobs) }, work));
}

async function bundle() {
  await build({
    entryPoints: [join(root, 'test', 'conformance', 'client.ts')],
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
}

/** A daemon with the fixture behind it, on a port of the system's choice; a scenario may leave a question open. */
async function startDaemon() {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-conformance-'));
  const fixture = join(root, 'test', 'conformance', 'server.mjs');
  const entry = { name: 'it', description: 'it', server: 'it', command: process.execPath, args: [fixture] };
  const config = {
    version: '1.0',
    daemon: { http: { listen: '127.0.0.1:0', token: 'none' } },
    security: { allowed_commands: [process.execPath] },
    mcp_servers: [{ ...entry, start: 'eager' }],
  };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(config));
  const child = spawn(process.execPath, [join(dist, 'bin', 'daemon.cjs')], {
    env: { PATH: process.env.PATH, HOME: home, TOOLHERD_HOME: home },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const ready = new Promise((resolve) =>
    /** @type {import('node:stream').Readable} */ (child.stdio[3]).once('data', resolve),
  );
  if ((await Promise.race([ready, ended])) === undefined) throw new Error('the daemon did not start');
  const { daemon } = await ask(join(home, 'run', 'toolherd.sock'), 'fleet/status');
  return {
    url: `${daemon.http.url}/s/it/mcp`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * @param {string} path
 * @param {string} method
 * @returns {Promise<any>}
 */
function ask(path, method) {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () =>
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method })}\n`),
    );
    socket.on('error', reject);
    createInterface({ input: socket }).once('line', (line) => {
      socket.destroy();
      resolve(JSON.parse(line).result);
    });
  });
}

/**
 * The scenarios of the protocol in this version, without those of extensions.
 * @param {Side} side
 * @param {string} spec
 */
function scenariosOf(side, spec) {
  const list = execaSync(node, [suite, 'list']).stdout;
  const [from, to] = { server: ['Server', 'Client'], client: ['Client', 'Authorization server'] }[side];
  const own = list.slice(list.indexOf(`${from} scenarios`), list.indexOf(`${to} scenarios`));
  return [...own.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)]
    .filter(([, , versions]) => versions.split(',').includes(spec))
    .map(([, name]) => name);
}

/**
 * @param {Side} side
 * @param {string} name
 * @param {string} spec
 * @returns {Promise<Row>}
 */
async function run(side, name, spec) {
  const folder = join(results, side, spec, name.replaceAll('/', '-'));
  mkdirSync(folder, { recursive: true });
  const daemon = side === 'server' ? await startDaemon() : undefined;
  const target =
    daemon === undefined ? ['--command', `${process.execPath} ${client}`] : ['--url', daemon.url];
  const args = [suite, side, ...target, '--scenario', name, '--spec-version', spec, '--timeout', '60000'];
  const stdio = flags.verbose ? 'inherit' : 'ignore';
  await execa(node, [...args, '-o', folder], { cwd: folder, stdio, reject: false });
  await daemon?.stop();
  const checks = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('checks.json'))
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
  const counted = checks.filter(({ status }) => status === 'SUCCESS' || status === 'FAILURE');
  const failed = counted.filter(({ status }) => status === 'FAILURE');
  return {
    side,
    name,
    spec,
    total: counted.length,
    passed: counted.length - failed.length,
    failed:
      counted.length === 0
        ? ['no check was made']
        : failed.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`),
  };
}

/**
 * @param {Side} side
 * @param {string} spec
 */
function summary(side, spec) {
  const mine = rows.filter((row) => row.side === side && row.spec === spec);
  const passed = mine.reduce((sum, row) => sum + row.passed, 0);
  const total = mine.reduce((sum, row) => sum + row.total, 0);
  const whole = mine.filter(({ failed }) => failed.length === 0).length;
  return `${spec}: ${passed} of ${total} checks, ${whole} of ${mine.length} scenarios`;
}

function page() {
  const date = new Date().toISOString().slice(0, 10);
  return [
    '# Conformance',
    '',
    `The official scenarios (\`${SUITE}\`), written by \`npm run conformance\`, ${date}.`,
    '',
    '## As a client of servers',
    '',
    'The suite plays the server. test/conformance/client.ts runs a herd with this one remote server, and lists and calls its tools.',
    '',
    ...table('client'),
    '## As a server to clients',
    '',
    'The suite plays the client and speaks to a daemon at `/s/it/mcp`. The daemon runs test/conformance/server.mjs, a stdio server of',
    'MCP up to 2025-11-25 that offers what the scenarios need.',
    '',
    ...table('server'),
  ].join('\n');
}

/** @param {Side} side */
function table(side) {
  return [
    ...SPECS.map((spec) => `- ${summary(side, spec)}`),
    '',
    markdownTable(
      ['version', 'scenario', 'checks', ''],
      rows
        .filter((row) => row.side === side)
        .map(({ spec, name, passed, total, failed }) => {
          const why = failed.length === 0 ? '' : (EXCUSED[side][name] ?? `FAILED: ${failed.join('; ')}`);
          return [spec, name, `${passed} of ${total}`, why];
        }),
    ),
    '',
  ];
}
