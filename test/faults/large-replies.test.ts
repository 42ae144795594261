import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import { Framer } from '../../src/shared/framing/framer.js';
import { HttpClient } from '../ipc/http/support.js';
import { LineClient, textOf } from '../ipc/mcp/support.js';
import { tinyWebsocket } from '../link/remote/tiny-server.js';
import { COMMAND } from '../support/command.js';
import { type Home, startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

/** Larger than what is parsed in any case. */
const LARGE = 100_000;
const HERD = config([server('it', 'large-tricks.mjs')]);

/** The error that its own caller gets; MINE if the forged reply was dropped and the real one follows. */
const MINE = 'mine';
const TRICKS = [
  ['twoIds', MINE],
  ['idBehind', MINE],
  ['hiddenId', MINE],
  ['sameIdTwice', 'more than one id'],
  ['noCall', MINE],
  ['methodToo', 'both a method and a result'],
  ['stringId', 'its id came back as a string'],
  ['bigId', MINE],
  ['noJson', 'not JSON'],
  ['unbalanced', 'not JSON'],
  ['glued', 'not JSON'],
  ['noObject', 'neither a result object nor an error'],
] as const;

/** Reads lines as bytes, and asks one thing after the other. */
function byteClient(input: Writable, output: Readable) {
  const lines: Buffer[] = [];
  const framer = new Framer(2 ** 30, { line: (bytes) => lines.push(bytes) });
  output.on('data', (chunk: Buffer) => framer.push(chunk));
  return {
    lines,
    async ask(id: string, method: string, params: object): Promise<Buffer> {
      const before = lines.length;
      input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`);
      return until(() => lines[before], 60_000);
    },
  };
}

function bySocket({ socket: path }: Home) {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  return byteClient(socket, socket);
}

function byBridge({ environment, folder }: Home) {
  const child = spawn(process.execPath, [COMMAND, 'bridge'], { env: environment, cwd: folder });
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  onTestFinished(() => {
    child.stdin.end();
    return exit;
  });
  return byteClient(child.stdin, child.stdout);
}

/** A WebSocket that answers pings, but not in the middle of what it dribbles. */
async function dribbler() {
  const held = new Map<WebSocket, Buffer[]>();
  const tiny = await tinyWebsocket(
    {
      'tools/call': ({ id }, socket) => {
        held.set(socket, []);
        void dribble(socket, `{"jsonrpc":"2.0","id":${id},"result":{}}`).then(() => {
          for (const ping of held.get(socket) ?? []) socket.pong(ping);
          held.delete(socket);
        });
      },
    },
    { autoPong: false },
  );
  tiny.server.on('connection', (socket) => {
    socket.on('ping', (ping) => {
      const waiting = held.get(socket);
      if (waiting === undefined) socket.pong(ping);
      else waiting.push(ping);
    });
  });
  return tiny;
}

/** One message within four seconds, as over a thin line: nothing else gets through meanwhile. */
async function dribble(socket: WebSocket, message: string): Promise<void> {
  const { _socket: wire } = socket as unknown as { _socket: Writable };
  const pieces = 40;
  const text = message.padStart(pieces * 1000);
  socket.pause();
  wire.write(Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]));
  for (let piece = 0; piece < pieces; piece += 1) {
    wire.write(text.slice(piece * 1000, (piece + 1) * 1000));
    await sleep(100);
  }
  socket.resume();
}

describe('U8: a large reply', () => {
  it('a reply with a forged or ambiguous id reaches its own caller as an error, or no caller', async () => {
    const { home, status } = await startHerd(HERD);
    const [victim, client] = [new LineClient(home.socket), new LineClient(home.socket)];
    for (const [kind, expected] of TRICKS) {
      victim.say({ id: kind, method: 'tools/call', params: { name: 'it__hold' } });
      await until(async () => (await status('it')).in_flight === 1);
      const trick = { name: 'it__trick', arguments: { kind, bytes: LARGE } };
      const told = await client.ask(kind, 'tools/call', trick);
      expect(textOf(told), kind).toContain(expected);
      expect(told.result?.isError === true, kind).toBe(expected !== MINE);
      expect(textOf(told).startsWith('MCPProtocolError'), kind).toBe(expected !== MINE);
      await client.ask(`${kind}, over`, 'tools/call', { name: 'it__release' });
      await until(async () => (await status('it')).in_flight === 0);
    }
    // no client got another message, and the other calls got their own replies
    await victim.settle();
    await client.settle();
    const [heard, heardToo] = [client.lines.slice(0, -1), victim.lines.slice(0, -1)];
    expect(heard.map(({ id }) => id)).toEqual(TRICKS.flatMap(([kind]) => [kind, `${kind}, over`]));
    expect(heardToo.map((line) => [line.id, textOf(line)])).toEqual(TRICKS.map(([kind]) => [kind, 'own']));
    measured(`U8: ${TRICKS.length} forged replies, none reached another call`);
    expect(await status('it')).toMatchObject({ incarnation: 1, restarts: 0 });
  });

  it('a reply of 10 MB with invalid UTF-8 is an error to its caller; other clients and the server are not affected', async () => {
    const { home, status } = await startHerd(HERD);
    const [one, other] = [new LineClient(home.socket), new LineClient(home.socket)];
    const bad = { name: 'it__trick', arguments: { kind: 'badUtf8', bytes: 10_000_000 } };
    const [told, beside] = await Promise.all([
      one.ask(1, 'tools/call', bad),
      other.ask(1, 'tools/call', {
        name: 'it__exactly',
        arguments: { json: '{"content":[{"type":"text","text":"BYTES"}]}', bytes: LARGE },
      }),
    ]);
    expect(told.result?.isError).toBe(true);
    expect(textOf(told)).toContain('not valid UTF-8');
    expect(textOf(beside)).toBe('x'.repeat(LARGE));
    await one.settle();
    expect(await status('it')).toMatchObject({ incarnation: 1, in_flight: 0 });
  });
});

describe('a large result', () => {
  // what parsing would change: numbers and their spelling, keys that are there twice, escapes, spaces
  const JSON_TEXT =
    '{"content":[{"type":"text","text":"\\u00e4ä€😀\\ud83d\\ude00\\/ BYTES"}],"structuredContent":{"n":1.0,"e":1E2,"big":18446744073709551617, "list":[ ]},"_meta":{"a":1,"a":2}}';

  it.each([
    ['the socket', bySocket],
    ['the bridge', byBridge],
  ])('passes %s byte for byte, for any position of its id', async (_, open) => {
    const { home } = await startHerd(HERD);
    const { ask } = open(home);
    for (const [bytes, order] of [
      [LARGE, 'first'],
      [LARGE, 'last'],
      [LARGE, 'spaced'],
      [10_000_000, 'first'],
    ] as const) {
      const params = { name: 'it__exactly', arguments: { json: JSON_TEXT, bytes, order } };
      const line = await ask('"é\\u0069"', 'tools/call', params);
      const sent = JSON_TEXT.replace('BYTES', 'x'.repeat(bytes));
      const expected = Buffer.from(`{"jsonrpc":"2.0","id":"éi","result":${sent}}`);
      expect(line.equals(expected), `${bytes} ${order}: ${line.length} of ${expected.length}`).toBe(true);
    }
  });

  it('passes from a WebSocket byte for byte, and on one line if it had several', async () => {
    const text = JSON_TEXT.replace('BYTES', 'x'.repeat(LARGE));
    const { url } = await tinyWebsocket({
      'tools/call': ({ id, params }, socket) => {
        const result = params?.name === 'lines' ? text.replace(', ', ',\n') : text;
        socket.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
      },
    });
    const far = { name: 'it', description: 'it', server: 'it', transport: 'websocket', url };
    const { home } = await startHerd(config([far]));
    const { ask, lines } = bySocket(home);
    await ask('0', 'fleet/hello', { client: { name: 'test', version: '1' }, server: 'it' });
    const line = await ask('1', 'tools/call', { name: 'any' });
    expect(line.toString() === `{"jsonrpc":"2.0","id":1,"result":${text}}`).toBe(true);
    const other = await ask('2', 'tools/call', { name: 'lines' });
    expect((JSON.parse(other.toString()) as { result: unknown }).result).toEqual(JSON.parse(text));
    expect(lines).toHaveLength(3);
  });

  it('that comes slowly is waited for, although the replies to pings are behind it (U6)', async () => {
    const { url } = await dribbler();
    const far = { name: 'it', description: 'it', server: 'it', transport: 'websocket', url };
    const { fleet, status } = await startHerd(config([{ ...far, ping: { interval: 0.2, timeout: 1.5 } }]));
    // nothing that was asked before it may be answered in the middle of it
    await fleet.start({ all: true }, true);
    await fleet.tools();
    expect(await fleet.call({ server: 'it', tool: 'any' })).toMatchObject({ success: true, error: null });
    expect(await status('it')).toMatchObject({ incarnation: 1, last_error: null });
  });

  it('passes fleet/request byte for byte', async () => {
    const { home } = await startHerd(HERD);
    const params = { name: 'exactly', arguments: { json: JSON_TEXT, bytes: LARGE } };
    const line = await bySocket(home).ask('1', 'fleet/request', {
      server: 'it',
      method: 'tools/call',
      params,
    });
    const sent = JSON_TEXT.replace('BYTES', 'x'.repeat(LARGE));
    expect(line.toString() === `{"jsonrpc":"2.0","id":1,"result":${sent}}`).toBe(true);
  });

  it('is converted for fleet/call', async () => {
    const { fleet } = await startHerd(HERD);
    const params = { json: '{"content":[{"type":"text","text":"BYTES"}]}', bytes: LARGE };
    const { success, content } = await fleet.call({ server: 'it', tool: 'exactly', arguments: params });
    expect([success, content]).toEqual([true, [{ type: 'text', text: 'x'.repeat(LARGE) }]]);
  });

  it('that is nested deeper than a client may write reaches its caller, whose other calls are served (U8)', async () => {
    const { fleet } = await startHerd(HERD);
    const [open, close] = ['['.repeat(3000), ']'.repeat(3000)];
    const json = `{"content":[],"structuredContent":{"deep":${open}"BYTES"${close}}}`;
    const held = fleet.call({ server: 'it', tool: 'hold' });
    const deep = await fleet.call({ server: 'it', tool: 'exactly', arguments: { json, bytes: 1 } });
    expect(JSON.stringify(deep.metadata.structured_content)).toBe(`{"deep":${open}"x"${close}}`);
    await fleet.call({ server: 'it', tool: 'release' });
    expect(await held).toMatchObject({ success: true, content: [{ text: 'own' }] });
  });

  it('holds only its own bytes, also while other clients read slowly or leave (U8)', async () => {
    const { home, status } = await startHerd(HERD);
    const jsonOf = (letter: string) =>
      `{"content":[{"type":"text","text":"${letter.repeat(1_500_000)}BYTES"}]}`;
    const callOf = (letter: string) => ({
      name: 'it__exactly',
      arguments: { json: jsonOf(letter), bytes: 0 },
    });
    const isOwn = (line: Buffer, letter: string, id: number) =>
      line.toString() === `{"jsonrpc":"2.0","id":${id},"result":${jsonOf(letter).replace('BYTES', '')}}`;
    const http = new HttpClient({ socketPath: home.socket });
    await http.initialize();
    const bySocketOf = async (letter: string) => {
      const { ask } = bySocket(home);
      for (let id = 1; id <= 6; id += 1) {
        const line = await ask(String(id), 'tools/call', callOf(letter));
        expect(isOwn(line, letter, id), `${letter} ${id}: ${line.length}`).toBe(true);
      }
    };
    const byHttp = async () => {
      for (let time = 0; time < 4; time += 1) {
        const { result } = await http.request('tools/call', callOf('h'));
        expect(result.content[0].text === 'h'.repeat(1_500_000)).toBe(true);
      }
    };
    // its result waits in the daemon while those of others pass
    const slow = connect(home.socket);
    onTestFinished(() => void slow.destroy());
    const slowly = byteClient(slow, slow);
    slow.pause();
    const held = slowly.ask('1', 'tools/call', callOf('s'));
    const leaver = connect(home.socket);
    leaver.on('error', () => undefined);
    leaver.once('data', () => leaver.destroy());
    leaver.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: callOf('l') })}\n`);
    await Promise.all([...['a', 'b', 'c'].map(bySocketOf), byHttp()]);
    slow.resume();
    expect(isOwn(await held, 's', 1)).toBe(true);
    await until(async () => (await status('it')).in_flight === 0);
  });

  it('that is larger than the write limit reaches a client that reads (U3, S7)', async () => {
    const bytes = 160_000_000;
    const { home, status } = await startHerd(
      config([server('it', 'large-tricks.mjs', { max_message_bytes: 200_000_000 })]),
    );
    const { ask } = bySocket(home);
    const params = { json: '{"content":[{"type":"text","text":"BYTES"}]}', bytes };
    const line = await ask('1', 'tools/call', { name: 'it__exactly', arguments: params });
    expect(line.length).toBeGreaterThan(bytes);
    expect(line.subarray(-4).toString()).toBe('}]}}');
    expect((await ask('2', 'ping', {})).toString()).toBe('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(await status('it')).toMatchObject({ incarnation: 1, in_flight: 0 });
  }, 60_000);
});
