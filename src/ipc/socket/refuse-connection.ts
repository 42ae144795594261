import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../shared/clock.js';
import { Framer } from '../../shared/framing/framer.js';
import { type IdText, type Incoming, readLine } from '../jsonrpc/message.js';
import { type ErrorObject, errorText } from '../jsonrpc/rpc-error.js';
import { looksLikeHttp } from './protocol-detection.js';

/** How long a refused client may take to send its request. */
const PATIENCE_MS = 1000;
const MOST_BYTES = 65_536;

/** Answers each request of a connection with an error, in its protocol, and closes it. `closed` runs when it has ended. */
export function refuseConnection(
  socket: Socket,
  error: ErrorObject,
  closed: () => void,
  clock: Clock = systemClock,
): void {
  const timer = clock.setTimeout(() => socket.destroy(), PATIENCE_MS);
  const answer = (message: Incoming) => {
    const id = idOf(message);
    if (id !== undefined) socket.write(`${errorText(id, error)}\n`);
  };
  const framer = new Framer(MOST_BYTES, {
    line: (bytes) => [readLine(bytes)].flat().forEach(answer),
    tooLong: () => socket.destroy(),
  });
  let isFirst = true;
  socket.on('data', (chunk: Buffer) => {
    if (isFirst && looksLikeHttp(chunk)) socket.end(unavailable(error));
    else if (!socket.writableEnded) framer.push(chunk);
    isFirst = false;
  });
  socket.on('end', () => socket.end());
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clock.clearTimeout(timer);
    closed();
  });
}

/** Undefined for messages that get no reply. */
function idOf(message: Incoming): IdText | undefined {
  return message.kind === 'request' || message.kind === 'invalid' ? message.id : undefined;
}

function unavailable(error: ErrorObject): string {
  const body = `${errorText('null', error)}\n`;
  return [
    'HTTP/1.1 503 Service Unavailable',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'retry-after: 1',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
