// A client in a separate process: calls servers at a steady rate. Every call is an event for the page.
import { openTransport } from '../transports/index.mjs';

const TICK_MS = 10;
/** Beyond this the servers are slower than the rate. */
const MOST_WAITING = 2000;

/** @type {{ path: string, rate: number, servers: string[] }} */
const { path, rate, servers } = JSON.parse(process.argv[2] ?? '');
const counts = { calls: 0, failed: 0, left_out: 0 };
let waiting = 0;
let turn = 0;

const transport = await openTransport({ kind: 'socket', path, speaks: 'fleet' });

async function call() {
  if (waiting >= MOST_WAITING) {
    counts.left_out += 1;
    return;
  }
  waiting += 1;
  turn = (turn + 1) % servers.length;
  try {
    await transport.call(servers[turn] ?? '', 'echo', { text: 'x' });
  } catch {
    // its server was killed
    counts.failed += 1;
  }
  counts.calls += 1;
  waiting -= 1;
}

const began = performance.now();
let made = 0;
setInterval(() => {
  const due = ((performance.now() - began) * rate) / 1000;
  for (; made < due; made += 1) void call();
}, TICK_MS);

process.on('message', () => process.send?.(counts));
process.on('disconnect', () => process.exit());
