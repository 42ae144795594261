import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Frees the memory of a buffer now instead of when the collector comes to it: whoever still looks at it finds it empty.
 * One that is only a part of its memory is left alone, and so is one that is free already. The price is that from then on every access to a typed array
 * costs a little more.
 */
export function detachBuffer({ buffer, length }: Buffer): void {
  if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) detach(buffer);
}

/** `transfer` is there from Node 21 on. Before it, what is sent to nobody is free as well. */
const detach: (memory: ArrayBuffer) => void =
  'transfer' in ArrayBuffer.prototype
    ? (memory) => void (memory as unknown as { transfer(bytes: number): ArrayBuffer }).transfer(0)
    : (memory) => nobody().postMessage(null, [memory]);

let closed: MessagePort | undefined;

function nobody(): MessagePort {
  if (closed === undefined) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  return closed;
}
