// Prints the way of one tools/call through the daemon: the stack when the request is written to the server's stdin, the
// stack when the reply is written to the client's socket, and every file of src that ran in between.
// Usage: node scripts/docs/trace-call.mjs [--write]
//   --write  also writes the table of "One call" in docs/ARCHITECTURE.md
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { markdownTable, replaceRegion } from '../shared/markdown.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'toolherd-trace-'));
const MARK = 'traced-call';

/** What each file on the way decides, as the table says it. A file that is missing here fails `--write`. */
const DECIDES = {
  in: {
    'ipc/jsonrpc/peer.ts': 'what kind of message the line is (`message.ts`)',
    'shared/framing/framer.ts': 'where the line ends',
    'ipc/jsonrpc/incoming-requests.ts':
      'whether the method exists and the id is free; sync, promise or `DEFERRED`',
    'ipc/server/mcp-methods.ts': 'which era',
    'ipc/mcp/methods.ts': 'who gets progress and questions (`ipc/mcp/session.ts`)',
    'ipc/server/connection-fleet.ts':
      'which view: shared, or the fork of this connection (`daemon/agent-views.ts`)',
    'supervisor/routing/mcp-requests.ts': 'nothing: it adapts parameters',
    'supervisor/routing/call-router.ts':
      'which server and which own name (`target-resolver.ts`, `name-search.ts`); refused or sent',
    'supervisor/server/configured-server.ts':
      'what runs its processes: replicas, or one process for each call',
    'supervisor/server/replica-set.ts': 'which replica',
    'supervisor/server/gate.ts': 'whether the session takes it now, or it waits and wakes the keeper',
    'link/calls/session.ts': 'the id on this link; whether there is room (`max_in_flight`)',
    'link/stdio/link.ts': 'which process: a second one may follow within the handshake',
    'link/stdio/stdin-writer.ts': 'written at once, or at the end of the turn',
  },
  back: {
    'link/stdio/pipes.ts': 'whether to pause a server that writes much',
    'link/stdio/link.ts': 'whether the memory of the chunk is free again',
    'shared/framing/framer.ts': 'where the line ends',
    'link/calls/session.ts': 'whether the server asks for input first; the sink of the call',
    'link/calls/reply-router.ts': 'which call it answers; a late, repeated or forged reply reaches no call',
    'supervisor/routing/call-router.ts': 'redaction of errors, `result_limit`; then the record',
    'ipc/mcp/reply-sink.ts': 'result, `isError` result or JSON-RPC error',
    'ipc/jsonrpc/incoming-request.ts': 'whether the client still wants it',
    'ipc/jsonrpc/peer.ts': 'whether the connection is open',
    'ipc/jsonrpc/write-queue.ts': 'written at once, or at the end of the turn',
  },
};

/** Loaded before the daemon: notes the stack of each write that has the mark, and counts the functions of that call. */
const PRELOAD = `
Error.stackTraceLimit = 200;
const { Session } = require('node:inspector');
const { Socket } = require('node:net');
const { writeFileSync } = require('node:fs');
const inspector = new Session();
inspector.connect();
inspector.post('Profiler.enable');
inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const stacks = [];
const write = Socket.prototype.write;
Socket.prototype.write = function (chunk, ...rest) {
  if (String(chunk).includes('${MARK}')) stacks.push(new Error().stack);
  return write.call(this, chunk, ...rest);
};
const take = (then) => inspector.post('Profiler.takePreciseCoverage', (_, { result }) => then(result));
process.on('SIGUSR2', () => take(() => undefined)); // resets the counts
process.on('SIGPIPE', () => take((result) => {
  const { functions } = result.find(({ url }) => url.endsWith('program.cjs'));
  const ran = functions.map(({ ranges }) => ranges[0]).filter(({ count }) => count > 0);
  writeFileSync(process.env.TRACE_FILE, JSON.stringify({ stacks, ran: ran.map(({ startOffset }) => startOffset) }));
}));
`;

async function bundle() {
  await build({
    absWorkingDir: root,
    entryPoints: { program: 'src/daemon/program.ts' },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    mainFields: ['module', 'main'],
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    platform: 'node',
    format: 'cjs',
    sourcemap: 'inline',
    supported: { 'dynamic-import': false },
  });
}

/**
 * Calls a tool twice, the second time with the mark; only the second call is counted.
 * @param {string} socket
 * @param {import('node:child_process').ChildProcess} daemon
 */
async function callTwice(socket, daemon) {
  const connection = connect(socket);
  const lines = createInterface({ input: connection })[Symbol.asyncIterator]();
  let id = 0;
  /** @type {(method: string, params?: object) => Promise<string>} */
  const ask = async (method, params) => {
    connection.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    return (await lines.next()).value;
  };
  /** @param {string} message */
  const echo = (message) => ask('tools/call', { name: 'everything__echo', arguments: { message } });
  const client = { name: 'trace', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client });
  await ask('tools/list');
  await echo('first');
  await sleep(1000);
  daemon.kill('SIGUSR2');
  await sleep(100);
  await echo(MARK);
  daemon.kill('SIGPIPE');
  await sleep(300);
  connection.destroy();
}

/**
 * The file of each offset: esbuild writes a comment with the path in front of each module.
 * @param {readonly number[]} offsets
 */
function filesOf(offsets) {
  const text = readFileSync(join(folder, 'program.cjs'), 'utf8');
  const modules = [...text.matchAll(/^\/\/ (\S+\.[jt]s)$/gm)];
  /** @param {number} offset */
  const fileAt = (offset) => modules.findLast(({ index }) => index < offset)?.[1] ?? '';
  return [...new Set(offsets.map(fileAt))].filter((file) => file.startsWith('src/')).sort();
}

/**
 * The functions of src on a stack, outermost first.
 * @param {string} stack
 */
function hopsOf(stack) {
  const frames = [...stack.matchAll(/at (.*) \(.*?(src\/\S+):(\d+):\d+\)/g)];
  return frames.reverse().map(([, name, file, line]) => ({ name, file, line }));
}

/**
 * @typedef {{ name: string, file: string, line: string }} Hop
 * @param {'in' | 'back'} way
 * @param {readonly Hop[]} hops
 */
function rowsOf(way, hops) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { file } of hops) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts].map(([path, count], at) => {
    const file = path.replace('src/', '');
    const decides = /** @type {Record<string, string>} */ (DECIDES[way])[file];
    if (decides === undefined) throw new Error(`DECIDES.${way} does not say what ${file} decides`);
    return [at === 0 ? way : '', String(count), `\`${file}\``, decides];
  });
}

/**
 * @param {{ in: Hop[], back: Hop[] }} ways
 */
function writeTable(ways) {
  const files = (/** @type {Hop[]} */ hops) => new Set(hops.map(({ file }) => file)).size;
  const count = (/** @type {Hop[]} */ hops) => `${hops.length} hops in ${files(hops)} files`;
  const all = files([...ways.in, ...ways.back]);
  const text = [
    `**${count(ways.in)} to the server, ${count(ways.back)} back, ${all} files in all.**`,
    '',
    markdownTable(
      ['', 'hops', 'file', 'what it decides'],
      [...rowsOf('in', ways.in), ...rowsOf('back', ways.back)],
    ),
  ];
  const page = join(root, 'docs', 'ARCHITECTURE.md');
  writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), 'one call', text.join('\n')));
}

await bundle();
writeFileSync(join(folder, 'preload.cjs'), PRELOAD);
const home = join(folder, 'home');
cpSync(join(root, 'examples', 'demo'), home, { recursive: true });
const trace = join(folder, 'trace.json');
const env = { ...process.env, TOOLHERD_HOME: home, TOOLHERD_PROJECT: root, TRACE_FILE: trace };
const flags = ['--enable-source-maps', '-r', join(folder, 'preload.cjs'), join(folder, 'program.cjs')];
const daemon = spawn(process.execPath, flags, { env, stdio: ['ignore', 'inherit', 'inherit'] });
try {
  const socket = join(home, 'run', 'toolherd.sock');
  for (let tries = 0; tries < 200 && !existsSync(socket); tries += 1) await sleep(50);
  await callTwice(socket, daemon);
  const { stacks, ran } = JSON.parse(readFileSync(trace, 'utf8'));
  const ways = { in: hopsOf(stacks[0]), back: hopsOf(stacks[1]) };
  for (const [title, hops] of Object.entries(ways)) {
    console.log(`${title}: ${hops.length} hops, ${new Set(hops.map(({ file }) => file)).size} files`);
    for (const { name, file, line } of hops) console.log(`  ${file}:${line}  ${name}`);
  }
  const files = filesOf(ran);
  console.log(`ran between the two readings: ${files.length} files\n  ${files.join('\n  ')}`);
  if (process.argv.includes('--write')) writeTable(ways);
} finally {
  daemon.kill('SIGTERM');
  await new Promise((resolve) => daemon.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
