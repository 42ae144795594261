// The smallest MCP server there is, the same child for every system: it reads and writes without an event loop, since
// whatever it costs is in every number. Tools: echo, give (a result of a size, made once), pid, hang (no answer).
import { readSync, writeSync } from 'node:fs';

const NEWLINE = 0x0a;
const LINE = 'Nov 16 12:00:00 host "service"[42]: something happened, and it took 12.5 ms\n';
const given = new Map();

function give(/** @type {number} */ size) {
  const text = LINE.repeat(Math.ceil(size / JSON.stringify(LINE).length));
  if (!given.has(size)) given.set(size, Buffer.from(JSON.stringify({ content: [{ type: 'text', text }] })));
  return given.get(size);
}

const text = (/** @type {string} */ text) => JSON.stringify({ content: [{ type: 'text', text }] });
const schema = { type: 'object' };
const tools = ['echo', 'give', 'pid', 'hang'].map((name) => ({ name, inputSchema: schema }));
/** @type {Record<string, (params: any) => string>} */
const results = {
  initialize: (/** @type {{ protocolVersion: any }} */ { protocolVersion }) =>
    JSON.stringify({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'echo', version: '1' },
    }),
  'tools/list': () => JSON.stringify({ tools }),
  ping: () => '{}',
};
/** @type {Record<string, (args: any) => string>} */
const calls = {
  echo: (/** @type {{ text: string }} */ args) => text(args.text),
  pid: () => text(String(process.pid)),
};

let out = '';

function answer(/** @type {{ id: string, method: string, params: any }} */ { id, method, params }) {
  if (id === undefined || params?.name === 'hang') return;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (params?.name === 'give') return writeLarge(head, give(params.arguments.size));
  const made = method === 'tools/call' ? calls[params.name]?.(params.arguments) : results[method]?.(params);
  out +=
    made === undefined
      ? `${head}"error":{"code":-32601,"message":"no such method"}}\n`
      : `${head}"result":${made}}\n`;
}

function writeLarge(/** @type {string} */ head, /** @type {any} */ result) {
  flush(`${out}${head}"result":`);
  for (let at = 0; at < result.length; ) at += writeSync(1, result, at);
  out = '}\n';
}

function flush(/** @type {string} */ text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  out = '';
}

const buffer = Buffer.allocUnsafe(65536);
/** @type {Buffer[]} */
let held = [];
for (;;) {
  const length = readSync(0, buffer);
  if (length === 0) break;
  const end = buffer.lastIndexOf(NEWLINE, length - 1);
  if (end === -1) {
    held.push(Buffer.from(buffer.subarray(0, length)));
    continue;
  }
  const whole = /** @type {any} */ (buffer).utf8Slice(0, end);
  const lines = (
    held.length === 0 ? whole : Buffer.concat([...held, buffer.subarray(0, end)]).toString()
  ).split('\n');
  held = end + 1 < length ? [Buffer.from(buffer.subarray(end + 1, length))] : [];
  for (const line of lines) answer(JSON.parse(line));
  if (out !== '') flush(out);
}
