// Gives results of any size, made before they are asked for, so that only their way is measured.
import { createInterface } from 'node:readline';

const LINE = 'Nov 16 12:00:00 host "service"[42]: something happened, and it took 12.5 ms\n';
const made = new Map();

function bytesOf(size) {
  const text = LINE.repeat(Math.ceil(size / JSON.stringify(LINE).length));
  if (!made.has(size)) made.set(size, Buffer.from(JSON.stringify({ content: [{ type: 'text', text }] })));
  return made.get(size);
}

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'large', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'give', inputSchema: { type: 'object' } }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === 'tools/call'
      ? bytesOf(params.arguments.size)
      : Buffer.from(JSON.stringify(results[method]?.(params) ?? {}));
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":`);
  process.stdout.write(result);
  process.stdout.write('}\n');
});
