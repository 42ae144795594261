// A relay that does nothing but what this benchmark asks for, and that as fast as it could be made: it cuts ids out of
// replies without parsing them, since it knows these servers, and writes once a turn. Nothing is checked, kept, timed,
// counted, restarted or logged. A lower bound for any daemon: two processes, no checks.
// Usage: node tuned-relay.mjs SOCKET NAME… (each a child that runs echo.mjs)
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';

const NEWLINE = 0x0a;
const ID = '"id":';
const [path, ...names] = process.argv.slice(2);
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'relay', version: '1' },
};

/** Whole lines of a stream: short ones in the chunk in which they came, a long one as its chunks, never joined. */
function onLines(/** @type {any} */ stream, /** @type {any} */ takeMany, /** @type {any} */ takeLong) {
  /** @type {Buffer[]} */
  let held = [];
  const take = (/** @type {Buffer} */ chunk) => {
    if (held.length > 0) {
      const end = chunk.indexOf(NEWLINE) + 1;
      held.push(end === 0 ? chunk : chunk.subarray(0, end));
      if (end === 0) return;
      const long = held;
      held = [];
      takeLong(long);
      if (end < chunk.length) take(chunk.subarray(end));
      return;
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) takeMany(end === chunk.length ? chunk : chunk.subarray(0, end));
    if (end < chunk.length) held.push(chunk.subarray(end));
  };
  stream.on('data', take);
}

/** What is written to a stream in one turn of the loop goes out in one write. */
function outbox(/** @type {any} */ stream) {
  let text = '';
  const flush = () => {
    const whole = text;
    text = '';
    if (whole !== '') stream.write(whole, 'latin1');
  };
  return {
    add(/** @type {string} */ line) {
      if (text === '') process.nextTick(flush);
      text += line;
    },
    pass(/** @type {Buffer[]} */ chunks) {
      flush();
      stream.cork();
      for (const chunk of chunks) stream.write(chunk);
      stream.uncork();
    },
  };
}

function startChild() {
  const { stdin, stdout } = spawn(process.execPath, [join(import.meta.dirname, 'echo.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const box = outbox(stdin);
  const waiting = new Map();
  let last = 0;
  const child = {
    /** `body` is the request from its method on. */
    ask(/** @type {string} */ body, /** @type {any} */ client, /** @type {string | number} */ id) {
      last += 1;
      waiting.set(last, { client, id });
      box.add(`{"jsonrpc":"2.0","id":${last},${body}\n`);
    },
  };
  /** Where a reply's id stands is known of these servers; everything around it passes as it is. */
  const reply = (/** @type {string} */ line) => {
    const from = line.indexOf(ID) + ID.length;
    const to = line.indexOf(',', from);
    const key = Number(line.slice(from, to));
    const { client, id } = waiting.get(key);
    waiting.delete(key);
    return { client, head: line.slice(0, from) + id, to };
  };
  const many = (/** @type {Buffer} */ chunk) => {
    for (const line of /** @type {any} */ (chunk).latin1Slice().split('\n')) {
      if (line === '') continue;
      const { client, head, to } = reply(line);
      client.add(`${head}${line.slice(to)}\n`);
    }
  };
  onLines(stdout, many, (/** @type {Buffer[]} */ chunks) => {
    const { client, head, to } = reply(chunks[0].toString('latin1', 0, 100));
    client.add(head);
    client.pass([chunks[0].subarray(to), ...chunks.slice(1)]);
  });
  return new Promise((resolve) => {
    const body = `"method":"initialize","params":${JSON.stringify(hello)}}`;
    child.ask(
      body,
      {
        add: () =>
          child.ask(
            '"method":"tools/list"}',
            {
              add: (/** @type {string} */ line) =>
                resolve({ ...child, tools: JSON.parse(line).result.tools }),
            },
            0,
          ),
      },
      0,
    );
  });
}

/** @type {[string, any][]} */
const started = await Promise.all(names.map(async (name) => [name, await startChild()]));
const children = new Map(started);
const tools = started.flatMap(([name, child]) =>
  child.tools.map((/** @type {{ name: string }} */ tool) => ({ ...tool, name: `${name}__${tool.name}` })),
);
/** @type {Record<string, object>} */
const own = {
  initialize: {
    protocolVersion: hello.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'relay', version: '1' },
  },
  'tools/list': { tools },
};

createServer((socket) => {
  const client = outbox(socket);
  socket.on('error', () => {});
  const many = (/** @type {Buffer} */ chunk) => {
    const text = /** @type {any} */ (chunk).utf8Slice();
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const { id, method, params } = JSON.parse(line);
      if (method === 'tools/call') {
        const [server, name] = params.name.split('__');
        params.name = name;
        const body = `"method":"tools/call","params":${JSON.stringify(params)}}`;
        children.get(server).ask(body, client, JSON.stringify(id));
      } else if (id !== undefined) {
        client.add(`${JSON.stringify({ jsonrpc: '2.0', id, result: own[method] ?? {} })}\n`);
      }
    }
  };
  onLines(socket, many, (/** @type {Buffer[]} */ chunks) => many(Buffer.concat(chunks)));
}).listen(path, () => process.send?.('ready'));
process.on('disconnect', () => process.exit());
