// isolated: counts what the whole process calls on JSON
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OutgoingRequests } from '../../../src/ipc/jsonrpc/outgoing-requests.js';
import { Peer, type PeerOptions } from '../../../src/ipc/jsonrpc/peer.js';
import { ERROR_CODES, RpcError } from '../../../src/ipc/jsonrpc/rpc-error.js';
import { ToolherdError } from '../../../src/shared/errors.js';
import { RawJson } from '../../../src/shared/framing/raw-json.js';
import { FakeClock, type Json, later } from '../support.js';

/** A peer whose other end is in the hands of the test. */
function peerWithWire(options: PeerOptions = {}) {
  const [wire, stream] = duplexPair();
  const reported: unknown[] = [];
  const peer = new Peer(stream, { report: (error) => reported.push(error), ...options });
  const lines: Json[] = [];
  let partial = '';
  let wake: () => void = () => undefined;
  wire.setEncoding('utf8');
  wire.on('data', (text: string) => {
    const parts = (partial + text).split('\n');
    partial = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as Json));
    wake();
  });
  onTestFinished(() => peer.destroy());
  const write = (...messages: unknown[]) =>
    wire.write(
      messages
        .map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
        .join(''),
    );
  const take = async (count: number) => {
    while (lines.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return lines.splice(0, count);
  };
  return { peer, wire, write, take, lines, reported };
}

/** Two peers that face each other. */
function twoPeers() {
  const [near, far] = duplexPair();
  const peers = [new Peer(near, { badLines: 'fatal' }), new Peer(far)] as const;
  onTestFinished(() => {
    for (const peer of peers) peer.destroy();
  });
  return peers;
}

const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });
const cancel = (id: unknown) => ({ jsonrpc: '2.0', method: '$/cancel', params: { id } });

class StoppedError extends ToolherdError {
  override readonly type = 'ServerUnavailableError';
  override readonly retryable = true;
  override readonly sent = false;
}

describe('a request', () => {
  it('is answered with its id unchanged', async () => {
    const { peer, wire } = peerWithWire();
    peer.handle('echo', (params) => params);
    const got: string[] = [];
    wire.on('data', (text: string) => got.push(text));
    for (const id of ['1', '"1"', 'null', '-7', '1.5', '1763276400123456789', '"\\u00e4\\n"']) {
      got.length = 0;
      wire.write(`{"jsonrpc":"2.0","id":${id},"method":"echo","params":{"x":1}}\n`);
      while (got.length === 0) await new Promise((resolve) => wire.once('data', resolve));
      const shown = id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id;
      expect(got.join('')).toBe(`{"jsonrpc":"2.0","id":${shown},"result":{"x":1}}\n`);
    }
  });

  it('a raw result is sent as the same bytes, alone and in a batch', async () => {
    const { peer, wire } = peerWithWire();
    const pieces = ['{"n":1.0,"a":', '"ä",', '"a":1E2}'].map((text) => Buffer.from(text));
    peer.handle('raw', () => new RawJson(pieces));
    peer.handle('echo', (params) => params);
    const stringify = vi.spyOn(JSON, 'stringify');
    onTestFinished(() => stringify.mockRestore());
    let got = '';
    const line = async (text: string) => {
      got = '';
      wire.write(`${text}\n`);
      while (!got.endsWith('\n')) await new Promise((resolve) => wire.once('data', resolve));
      return got;
    };
    wire.on('data', (text: string) => {
      got += text;
    });
    const raw = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":{"n":1.0,"a":"ä","a":1E2}}`;
    expect(await line('{"jsonrpc":"2.0","id":7,"method":"raw"}')).toBe(`${raw('7')}\n`);
    expect(stringify).not.toHaveBeenCalled();
    expect(
      await line(
        '[{"jsonrpc":"2.0","id":1,"method":"echo","params":{}},{"jsonrpc":"2.0","id":2,"method":"raw"}]',
      ),
    ).toBe(`[{"jsonrpc":"2.0","id":1,"result":{}},${raw('2')}]\n`);
  });

  it('an unknown method is -32601, also `constructor` and `__proto__`', async () => {
    const { write, take } = peerWithWire();
    write(request(1, 'nope'), request(2, 'constructor'), request(3, '__proto__'));
    for (const { error } of await take(3)) expect(error).toMatchObject({ code: -32601 });
  });

  it('whose id is in use gets an error; the first is still answered', async () => {
    const { peer, write, take } = peerWithWire();
    const { promise, resolve } = later<string>();
    peer.handle('wait', () => promise);
    write(request(1, 'wait'), request(1, 'wait'), request('1', 'wait'));
    expect(await take(1)).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    resolve('done');
    expect(await take(2)).toMatchObject([
      { id: 1, result: 'done' },
      { id: '1', result: 'done' },
    ]);
    write(request(1, 'wait'));
    expect(await take(1)).toMatchObject([{ id: 1, result: 'done' }]);
  });

  it('fails with the code of its error and the same object in data', async () => {
    const { peer, write, take, reported } = peerWithWire();
    peer.handle('fail', () => {
      throw new StoppedError('a is stopped', { why: 'the user stopped it', fix: 'start it' });
    });
    write(request(1, 'fail'));
    const data = {
      type: 'ServerUnavailableError',
      message: 'a is stopped',
      why: 'the user stopped it',
      fix: 'start it',
      retryable: true,
      sent: false,
    };
    expect(await take(1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: 1021, message: 'a is stopped', data } },
    ]);
    expect(reported).toEqual([]);
  });

  it('fails with the code of each error type, and the type survives the wire', async () => {
    const [near, far] = twoPeers();
    far.handle('fail', (params) => {
      throw Object.assign(new ToolherdError('m'), { type: (params as Json).type, sent: true });
    });
    for (const [type, code] of Object.entries(ERROR_CODES)) {
      const error = await near.request('fail', { type }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: type, type, code, message: 'm', sent: true, retryable: false });
      expect(error).toBeInstanceOf(ToolherdError);
    }
    expect(new Set(Object.values(ERROR_CODES)).size).toBe(Object.keys(ERROR_CODES).length);
  });

  it('that fails with a ToolherdError without a code gets 1000 and keeps the type', async () => {
    const { peer, write, take, reported } = peerWithWire();
    class OddError extends ToolherdError {
      override readonly type = 'OddError';
    }
    peer.handle('odd', () => Promise.reject(new OddError('odd', { fix: 'f' })));
    write(request(1, 'odd'));
    expect(await take(1)).toMatchObject([
      { error: { code: 1000, message: 'odd', data: { type: 'OddError', fix: 'f' } } },
    ]);
    expect(reported).toEqual([]);
  });

  it('that hits a bug gets an internal error without its message; the message is reported', async () => {
    const { peer, write, take, reported } = peerWithWire();
    const bug = new TypeError('secret of /home/me');
    peer.handle('bug', () => Promise.reject(bug));
    write(request(1, 'bug'));
    const [reply] = await take(1);
    expect(reply).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(JSON.stringify(reply)).not.toMatch(/secret|peer\.test/);
    expect(reported).toEqual([bug]);
  });

  it('whose result cannot be serialized gets an error (S8)', async () => {
    const { peer, write, take } = peerWithWire();
    const circular: unknown[] = [];
    circular.push(circular);
    peer.handle('circular', () => circular);
    peer.handle('big', () => ({ n: 1n }));
    peer.handle('nothing', () => undefined);
    write(request(1, 'circular'), request(2, 'big'), request(3, 'nothing'));
    expect(await take(3)).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, error: { code: -32603 } },
      { id: 3, result: null },
    ]);
    expect(() => peer.notify('circular', circular)).not.toThrow();
    await expect(peer.request('circular', circular)).rejects.toMatchObject({ type: 'ToolherdError' });
  });

  it('a request beyond 20,000 in flight on one connection is refused', async () => {
    const { peer, write, take } = peerWithWire();
    peer.handle('wait', () => new Promise(() => undefined));
    for (let from = 0; from < 20_000; from += 1000) {
      write(...Array.from({ length: 1000 }, (_, at) => request(from + at, 'wait')));
    }
    write(request('one more', 'wait'));
    const data = { type: 'OverloadedError', retryable: true };
    expect(await take(1)).toMatchObject([{ id: 'one more', error: { code: 1031, data } }]);
    expect(peer.running).toBe(20_000);
  });

  it('begins in the order of arrival', async () => {
    const { peer, write, take } = peerWithWire();
    const begun: unknown[] = [];
    peer.handle('begin', (params) => {
      begun.push((params as Json).n);
    });
    write(...[1, 2, 3].map((n) => request(n, 'begin', { n })));
    await take(3);
    expect(begun).toEqual([1, 2, 3]);
  });
});

describe('a cancelled request', () => {
  it('has its signal aborted and is answered with CancelledError', async () => {
    const { peer, write, take } = peerWithWire();
    peer.handle('wait', (_, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    write(request(1, 'wait'), request('1', 'wait'), cancel(1));
    const data = { type: 'CancelledError', sent: false };
    expect(await take(1)).toMatchObject([{ id: 1, error: { code: 1032, data } }]);
    expect(peer.running).toBe(1);
  });

  it("is answered with its method's result, if the method still returns one", async () => {
    const { peer, write, take } = peerWithWire();
    peer.handle('late', async (_, context) => {
      await new Promise(setImmediate);
      // the signal is asked for after the cancel
      return context.signal.aborted;
    });
    write(request(1, 'late'), cancel(1));
    expect(await take(1)).toMatchObject([{ id: 1, result: true }]);
  });

  it('that is unknown is ignored', async () => {
    const { peer, write, take } = peerWithWire();
    peer.handle('echo', (params) => params);
    write(cancel(9), { jsonrpc: '2.0', method: '$/cancel' }, request(1, 'echo', []));
    expect(await take(1)).toMatchObject([{ id: 1 }]);
  });

  it("is cancelled at the other end by the caller's signal", async () => {
    const [near, far] = twoPeers();
    const begun = later();
    far.handle('wait', (_, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const controller = new AbortController();
    const asked = near.request('wait', {}, { signal: controller.signal });
    asked.catch(() => undefined);
    await begun.promise;
    controller.abort();
    await expect(asked).rejects.toMatchObject({ type: 'CancelledError', code: 1032 });
    await expect(near.request('wait', {}, { signal: controller.signal })).rejects.toMatchObject({
      sent: false,
    });
  });
});

describe('a batch', () => {
  it('is answered as a batch, in its order, when the last reply is there', async () => {
    const { peer, write, take } = peerWithWire();
    const { promise, resolve } = later<number>();
    peer.handle('wait', () => promise);
    peer.handle('echo', (params) => params);
    write([request(1, 'wait'), 5, { jsonrpc: '2.0', method: 'echo' }, request(2, 'echo', { x: 1 })]);
    write(request(3, 'echo', []));
    expect(await take(1)).toMatchObject([{ id: 3 }]);
    resolve(7);
    expect(await take(1)).toMatchObject([
      [
        { id: 1, result: 7 },
        { id: null, error: { code: -32600 } },
        { id: 2, result: { x: 1 } },
      ],
    ]);
  });

  it('a batch of notifications only gets no answer; an empty batch gets -32600', async () => {
    const { write, take } = peerWithWire();
    write([{ jsonrpc: '2.0', method: 'x' }], []);
    expect(await take(1)).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });

  it('whose replies together exceed the hard cap ends the connection, not the daemon (S7)', async () => {
    const { peer, write } = peerWithWire({ limits: { softBytes: 1000, hardBytes: 10_000, stallMs: 5000 } });
    peer.handle('wait', () => new Promise(() => undefined));
    peer.handle('big', () => 'x'.repeat(6000));
    write([request(1, 'wait'), request(2, 'big'), request(3, 'big')]);
    expect(await peer.closed).toMatch(/replies to a batch/);
  });

  it('can be cancelled one by one', async () => {
    const { peer, write, take } = peerWithWire();
    peer.handle('wait', (_, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    write([request(1, 'wait'), request(2, 'wait')], cancel(1), cancel(2));
    expect(await take(1)).toMatchObject([[{ error: { code: 1032 } }, { error: { code: 1032 } }]]);
  });
});

describe('a bad line', () => {
  it('gets one error, and the connection stays open (S8)', async () => {
    const { peer, write, take } = peerWithWire({ maxLineBytes: 100 });
    peer.handle('echo', (params) => params);
    write('{', 'x'.repeat(1000), '', '\r', '{"jsonrpc":"1.0"}', request(1, 'echo', []));
    expect(await take(4)).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600, message: expect.stringContaining('100 bytes') } },
      { id: null, error: { code: -32600 } },
      { id: 1 },
    ]);
  });

  it("a bad line from the daemon ends a client's connection, because its reply cannot be matched", async () => {
    const { peer, write } = peerWithWire({ badLines: 'fatal' });
    const asked = peer.request('x');
    write('{"jsonrpc"');
    await expect(asked).rejects.toMatchObject({ type: 'ConnectionLostError', sent: true });
    expect(await peer.closed).toMatch(/not JSON/);
  });

  it('a line with `__proto__` as a name changes no prototype (S8)', async () => {
    const { peer, wire, take } = peerWithWire();
    peer.handle('echo', (params) => params);
    wire.write(
      '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"__proto__":{"polluted":1}},"__proto__":{"id":2}}\n',
    );
    const [reply] = await take(1);
    expect(JSON.stringify(reply)).toBe('{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"polluted":1}}}');
    expect(({} as Json).polluted).toBeUndefined();
  });
});

describe('a closed connection', () => {
  it('aborts requests in flight and sends no reply (S9)', async () => {
    const { peer, wire, write, lines } = peerWithWire();
    const aborted: number[] = [];
    const begun = later();
    peer.handle('wait', (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(1));
      if (peer.running === 2) begun.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    write(request(1, 'wait'), [request(2, 'wait')], { jsonrpc: '2.0', method: 'wait' });
    await begun.promise;
    wire.destroy();
    peer.destroy('the test says so');
    expect(await peer.closed).toBe('the test says so');
    expect(aborted).toEqual([1, 1, 1]);
    await new Promise(setImmediate);
    expect(lines).toEqual([]);
  });

  it('fails each outgoing request once, with `sent`', async () => {
    const [near, far] = twoPeers();
    far.handle('wait', () => new Promise(() => undefined));
    const asked = [near.request('wait'), near.request('wait')].map((promise) =>
      promise.catch((error: unknown) => error),
    );
    near.destroy('gone');
    for (const error of await Promise.all(asked)) {
      expect(error).toMatchObject({ type: 'ConnectionLostError', sent: true, retryable: false });
    }
    await expect(near.request('wait')).rejects.toMatchObject({ sent: false, retryable: true });
    near.notify('nothing happens');
  });

  it('a last message without a newline is answered when its client ends its output', async () => {
    const { peer, wire, take } = peerWithWire();
    peer.handle('greet', () => 'hello');
    wire.end(JSON.stringify(request(1, 'greet')));
    expect(await take(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'hello' }]);
    await peer.closed;
  });

  it('half of a last message gets one error', async () => {
    const { wire, take } = peerWithWire();
    wire.end('{"jsonrpc":"2.0","id":1,"meth');
    expect(await take(1)).toMatchObject([{ id: null, error: { code: -32700 } }]);
  });

  it('a reply that breaks off is no reply: the request fails with the end of the connection', async () => {
    const { peer, wire } = peerWithWire({ badLines: 'fatal' });
    const asked = peer.request('greet');
    wire.end('{"jsonrpc":"2.0","id":1,"result":1}');
    await expect(asked).rejects.toMatchObject({ type: 'ConnectionLostError', sent: true });
  });

  it('a client that closes its writing side still gets the replies, then the end', async () => {
    const clock = new FakeClock();
    const { peer, wire, write, take } = peerWithWire({ clock });
    const { promise, resolve } = later<string>();
    const begun = later();
    peer.handle('wait', () => {
      begun.resolve();
      return promise;
    });
    write(request(1, 'wait'));
    wire.end();
    await begun.promise;
    clock.advance(2000);
    resolve('done');
    expect(await take(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'done' }]);
    await peer.closed;
    expect(clock.pending).toBe(0);
  });

  it('begins no request that is left in the same chunk', async () => {
    const { peer, write } = peerWithWire();
    const begun: unknown[] = [];
    peer.handle('begin', (params) => {
      begun.push(params);
      peer.destroy();
    });
    write(request(1, 'begin', [1]), request(2, 'begin', [2]), [request(3, 'begin', [3])]);
    await peer.closed;
    expect(begun).toEqual([[1]]);
  });

  it('a connection closed on one side fails outgoing requests while incoming ones are still answered', async () => {
    const { peer, wire, write } = peerWithWire({ clock: new FakeClock() });
    peer.handle('wait', () => new Promise(() => undefined));
    const asked = peer.request('x');
    asked.catch(() => undefined);
    write(request(1, 'wait'));
    wire.end();
    await expect(asked).rejects.toMatchObject({ type: 'ConnectionLostError', sent: true });
    expect(peer.running).toBe(1);
  });

  it('resolves `flushed` although the rest is never read', async () => {
    const { peer, wire } = peerWithWire();
    wire.pause();
    peer.notify('big', { text: 'x'.repeat(1_000_000) });
    const flushed = peer.flushed();
    peer.destroy();
    await flushed;
    await peer.flushed();
  });

  it('`end` writes everything first', async () => {
    const { peer, take } = peerWithWire();
    const text = 'x'.repeat(1_000_000);
    peer.notify('big', { text });
    peer.end();
    expect(await take(1)).toMatchObject([{ method: 'big', params: { text } }]);
    await peer.closed;
    expect(peer.queued).toBe(0);
  });
});

describe('both ends', () => {
  it('may send requests at the same time with the same ids', async () => {
    const [near, far] = twoPeers();
    near.handle('who', () => 'near');
    far.handle('who', () => near.request('who').then(() => 'far'));
    far.handle('back', async () => `far, and ${await far.request('who')}`);
    expect(await Promise.all([near.request('back'), far.request('who'), near.request('back')])).toEqual([
      'far, and near',
      'near',
      'far, and near',
    ]);
  });

  it('ignore a reply to no request and a second reply, and keep no settled request', async () => {
    const sent: string[] = [];
    const requests = new OutgoingRequests((text) => sent.push(text));
    const asked = [requests.request('x', {}), requests.request('y', {})];
    requests.answered('9', 'no request');
    requests.answered('1', 'first');
    requests.answered('1', 'second');
    requests.failed('2', { code: 5, message: 'm' });
    expect(await asked[0]).toBe('first');
    await expect(asked[1]).rejects.toMatchObject({ code: 5, type: 'RemoteError' });
    expect(requests.size).toBe(0);
    expect(sent).toHaveLength(2);
  });

  it('send exactly one reply to every request, for any outcome', async () => {
    const fate = fc.constantFrom('answer', 'throw', 'bug', 'late', 'unknown', 'cancelled', 'notified');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        async (fates, asBatch) => {
          const { peer, wire, write, take, lines } = peerWithWire();
          peer.handle('answer', () => 1);
          peer.handle('throw', () => {
            throw new RpcError(7, 'm');
          });
          peer.handle('bug', () => Promise.reject(new Error('bug')));
          peer.handle('late', () => new Promise((resolve) => setImmediate(resolve, 1)));
          peer.handle(
            'cancelled',
            (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
          );
          const asked = fates.map((name, id) =>
            name === 'notified' ? { jsonrpc: '2.0', method: 'answer' } : request(id, name),
          );
          const cancels = fates.flatMap((name, id) => (name === 'cancelled' ? [cancel(id)] : []));
          const ids = fates.flatMap((name, id) => (name === 'notified' ? [] : [id]));
          if (asBatch) write(asked, ...cancels);
          else write(...asked, ...cancels);
          const replies = asBatch
            ? ids.length === 0
              ? []
              : ((await take(1))[0] as unknown as Json[])
            : await take(ids.length);
          expect(replies.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(ids);
          for (const reply of replies) expect('result' in reply).toBe(!('error' in reply));
          write(request('last', 'answer'));
          expect(await take(1)).toMatchObject([{ id: 'last' }]);
          expect(lines).toEqual([]);
          expect(peer.running).toBe(0);
          wire.destroy();
          peer.destroy();
        },
      ),
      { numRuns: 60 },
    );
  });
});
