import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { VirtualConnection } from '../../../src/ipc/http/virtual-connection.js';

const textOf = ({ chunks }: { chunks: readonly Buffer[] }) => Buffer.concat(chunks).toString();

describe('a connection without a socket', () => {
  it('delivers whole messages, for any split of the writes', () => {
    const heard: string[] = [];
    const { stream } = new VirtualConnection(
      (message) => heard.push(textOf(message)),
      () => undefined,
    );
    for (const text of ['{"a', '":1}\n{"b":2}', '\n\n', '{"c":3}\n']) stream.write(text);
    expect(heard).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  it('ends when `onMessage` throws, and write does not throw', async () => {
    let closings = 0;
    const { stream } = new VirtualConnection(
      () => {
        throw new Error('it cannot be passed on');
      },
      () => {
        closings += 1;
      },
    );
    const failed = once(stream, 'error');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    expect(() => stream.write('{"a":1}\n')).not.toThrow();
    expect((await failed)[0]).toMatchObject({ message: 'it cannot be passed on' });
    await closed;
    expect(closings).toBe(1);
  });
});
