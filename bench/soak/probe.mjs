// A client in a separate process, whose latency is measured. One call after the other, with a pause between.
import { openTransport } from '../transports/index.mjs';

const PAUSE_MS = 3;

/** @type {{ path: string, server: string }} */
const { path, server } = JSON.parse(process.argv[2] ?? '');
const transport = await openTransport({ kind: 'socket', path });
/** @type {number[]} */
let samples = [];

/** Each message asks for what was measured since the one before. */
process.on('message', () => {
  process.send?.(samples);
  samples = [];
});
process.on('disconnect', () => process.exit());

for (;;) {
  const began = performance.now();
  await transport.call(server, 'echo', { text: 'x' });
  samples.push(performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
