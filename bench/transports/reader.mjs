// Reads replies and throws them away, so that a relay never waits for its reader.
import { connectLines, shakeHands } from './lines.mjs';

const NEWLINE = 0x0a;

export async function openReader(/** @type {{ path: string }} */ { path }) {
  const { lines, socket } = await connectLines(path);
  await shakeHands(lines);
  socket.removeAllListeners('data');
  /** @type {(bytes: number) => void} */
  let received = () => {};
  socket.on('data', (/** @type {Buffer} */ chunk) => chunk.at(-1) === NEWLINE && received(chunk.length));
  return {
    call: (/** @type {string} */ server, /** @type {string} */ tool, /** @type {Bench.Arguments} */ args) =>
      new Promise((resolve, reject) => {
        received = resolve;
        socket.once('close', () => reject(new Error('the connection was closed')));
        const params = { name: `${server}__${tool}`, arguments: args };
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
      }),
    close: () => socket.destroy(),
  };
}
