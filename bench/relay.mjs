// The least that a relay between agents and servers can be, written by hand in a straightforward way: a Unix socket, one child a
// server, every message parsed, its id exchanged, written again. Nothing is checked, kept, timed, counted, restarted or
// logged. The floor beside which toolherd is measured.
// Usage: node relay.mjs [--sessions] SOCKET NAME… (each a child that runs echo.mjs; with --sessions each leads a session, which
// a supervisor needs to end a server with everything that it started)
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const {
  values: { sessions: detached },
  positionals: [path, ...names],
} = parseArgs({ options: { sessions: { type: 'boolean' } }, allowPositionals: true });
const clientInfo = { name: 'relay', version: '1' };
const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };

function onMessages(
  /** @type {import('node:stream').Readable} */ stream,
  /** @type {(message: Bench.Json) => void} */ take,
) {
  let held = '';
  stream.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    const lines = (held + chunk).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) take(JSON.parse(line));
  });
}

function send(/** @type {import('node:stream').Writable} */ stream, /** @type {object} */ message) {
  stream.write(`${JSON.stringify(message)}\n`);
}

async function startChild(/** @type {string} */ name) {
  const { stdin, stdout } = spawn(process.execPath, [join(import.meta.dirname, 'echo.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached,
  });
  const waiting = new Map();
  let last = 0;
  onMessages(stdout, (reply) => {
    const { id, answer } = waiting.get(reply.id);
    waiting.delete(reply.id);
    reply.id = id;
    answer(reply);
  });
  const ask = (/** @type {Bench.Json} */ request, /** @type {(reply: Bench.Json) => void} */ answer) => {
    last += 1;
    waiting.set(last, { id: request.id, answer });
    request.id = last;
    send(stdin, request);
  };
  const request = (/** @type {string} */ method, params = {}) =>
    new Promise((/** @type {(reply: Bench.Json) => void} */ resolve) =>
      ask({ jsonrpc: '2.0', id: 0, method, params }, resolve),
    );
  await request('initialize', hello);
  const { result } = await request('tools/list');
  return { name, ask, tools: result.tools };
}

const children = await Promise.all(names.map(startChild));
const byName = new Map(children.map((child) => [child.name, child]));
/** @type {Record<string, object>} */
const own = {
  initialize: { ...hello, serverInfo: clientInfo },
  'tools/list': {
    tools: children.flatMap(({ name, tools }) =>
      tools.map((/** @type {{ name: string }} */ tool) => ({ ...tool, name: `${name}__${tool.name}` })),
    ),
  },
};

createServer((socket) => {
  socket.on('error', () => {});
  onMessages(socket, (/** @type {any} */ request) => {
    const { id, method, params } = request;
    if (method === 'tools/call') {
      const [server, name] = params.name.split('__');
      params.name = name;
      byName.get(server)?.ask(request, (/** @type {any} */ reply) => send(socket, reply));
    } else if (id !== undefined) send(socket, { jsonrpc: '2.0', id, result: own[method] ?? {} });
  });
}).listen(path, () => process.send?.('ready'));
process.on('disconnect', () => process.exit());
