import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Frees the memory of a buffer now instead of at the next garbage collection; every later reader finds it empty. A buffer
 * that is only a part of its memory is left alone, and so is one that is free already. The price: from the first call on
 * V8 makes every access to a typed array a little slower.
 */
export function detachBuffer({ buffer, length }: Buffer): void {
  if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) detach(buffer);
}

/** `transfer` exists from Node 21 on. Before that, a message to a closed port frees the memory that it transfers. */
const detach: (memory: ArrayBuffer) => void =
  'transfer' in ArrayBuffer.prototype
    ? (memory) => void (memory as unknown as { transfer(bytes: number): ArrayBuffer }).transfer(0)
    : (memory) => closedPort().postMessage(null, [memory]);

let closed: MessagePort | undefined;

function closedPort(): MessagePort {
  if (closed === undefined) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  return closed;
}
