// An MCP server that does little but write to its log, all the time.
import { createInterface } from 'node:readline';

const EVERY_MS = 50;
const LINES = 10;
let written = 0;

/** @type {Record<string, (params: any) => object>} */
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'talker', version: '1' },
  }),
  'tools/list': () => ({ tools: [] }),
  ping: () => ({}),
};

createInterface(process.stdin).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const made = results[method]?.(params);
  if (id === undefined) return;
  const answer =
    made === undefined ? { error: { code: -32601, message: 'no such method' } } : { result: made };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
process.stdin.on('end', () => process.exit());

setInterval(() => {
  for (let line = 0; line < LINES; line += 1) {
    written += 1;
    process.stderr.write(`line ${written}: something happened, and it took ${written % 97} ms\n`);
  }
}, EVERY_MS);
