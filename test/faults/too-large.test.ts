import { describe, expect, it } from 'vitest';
import { LineClient, textOf } from '../ipc/mcp/support.js';
import {
  type Answer,
  answerJson,
  event,
  openStream,
  type Request,
  saying,
  tinyHttp,
  tinySse,
  tinyWebsocket,
} from '../link/remote/tiny-server.js';
import { startHerd } from '../support/herd.js';
import { config, type Entry, server } from './config.js';
import { measured } from './measured.js';

const CAP = 100_000;
const LIMIT = { max_message_bytes: CAP, backoff: { min: 0.1, max: 0.2, factor: 1, jitter: 0 } };

const far = (transport: string, url: string): Entry => ({
  ...{ name: 'it', description: 'it', server: 'it', transport, url },
  ...LIMIT,
});
/** As large as it is asked to be, as the fixture's. */
function sized({ id, params }: Request): string {
  const { bytes = 0 } = (params?.arguments ?? {}) as { bytes?: number };
  return saying(id, 'x'.repeat(bytes));
}

const WAYS: [name: string, tool: string, entry: () => Promise<Entry>][] = [
  ['stdio', 'give', async () => server('it', 'huge.mjs', LIMIT)],
  [
    'http',
    'any',
    async () => {
      const call: Answer = (message, response) => answerJson(response, sized(message));
      return far('http', (await tinyHttp({ on: { 'tools/call': call } })).url);
    },
  ],
  [
    'http, in a stream',
    'any',
    async () => {
      const call: Answer = (message, response) => openStream(response).end(event(sized(message)));
      return far('http', (await tinyHttp({ on: { 'tools/call': call } })).url);
    },
  ],
  [
    'sse',
    'any',
    async () => {
      const call: Answer = (message, response) => {
        response.writeHead(202).end();
        tiny.stream?.write(event(sized(message)));
      };
      const tiny = await tinySse({ on: { 'tools/call': call } });
      return far('sse', tiny.url);
    },
  ],
  ['websocket', 'any', async () => far('websocket', (await sizedWebsocket()).url)],
];

const sizedWebsocket = () =>
  tinyWebsocket({ 'tools/call': (message, socket) => socket.send(sized(message)) });

describe('U3: a result over max_message_bytes', () => {
  it.each(WAYS)(
    'a large result over %s fails only its own call; the server runs on, and smaller results pass',
    async (name, tool, entry) => {
      const { fleet, home, status } = await startHerd(config([await entry()]));
      const give = (bytes: number) => fleet.call({ server: 'it', tool, arguments: { bytes } });
      await fleet.start({ all: true }, true);
      const [large, small] = await Promise.all([give(CAP * 1.5), give(10)]);
      expect(large).toMatchObject({
        success: false,
        error: {
          type: 'ResultTooLargeError',
          sent: true,
          message: expect.stringContaining('max_message_bytes'),
          fix: expect.any(String),
        },
      });
      expect(small).toMatchObject({ success: true, content: [{ text: 'x'.repeat(10) }] });

      const client = new LineClient(home.socket);
      const call = (bytes: number) =>
        client.ask(1, 'tools/call', { name: `it__${tool}`, arguments: { bytes } });
      const told = await call(CAP * 1.5);
      expect([told.result?.isError, textOf(told)]).toEqual([
        true,
        expect.stringContaining('max_message_bytes'),
      ]);
      expect(textOf(await call(CAP - 1000))).toHaveLength(CAP - 1000);
      expect(await status('it')).toMatchObject({ state: 'connected', incarnation: 1, restarts: 0 });
      measured(
        `U3: over ${name}: ResultTooLargeError; ${CAP - 1000} of ${CAP} bytes passed in the next call`,
      );
    },
  );

  it('a result that is far over it closes a WebSocket, and the next call opens another', async () => {
    const { url } = await sizedWebsocket();
    const { fleet } = await startHerd(config([far('websocket', url)]));
    const give = (bytes: number) => fleet.call({ server: 'it', tool: 'any', arguments: { bytes } });
    expect((await give(CAP * 5)).error).toMatchObject({
      type: 'MCPProtocolError',
      sent: true,
      message: expect.stringContaining('max_message_bytes'),
    });
    expect(await give(10)).toMatchObject({ success: true });
  });
});
