import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Ask, Outcome } from '../../../src/shared/call-sink.js';
import { deferred, open, remoteSpec } from './support.js';
import { answerJson, event, openStream, saying, tinyHttp, tinySse, tinyWebsocket } from './tiny-server.js';

const QUESTION = JSON.stringify({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: {} });

type Told = { error?: { message: string }; result?: unknown };

const MAX_BYTES = 100_000;

/**
 * Servers with these tools: `held` is never answered, `ask` asks. Over HTTP also: `cut` breaks its connection, `big` and
 * `streamed` answer with more than MAX_BYTES.
 */
const SERVERS = {
  async http(told: (reply: Told) => void, began: () => void) {
    let asking: { id: unknown; response: ServerResponse } | undefined;
    const tiny = await tinyHttp({
      on: {
        'tools/call': ({ id, params }, response) => {
          began();
          const big = saying(id, 'x'.repeat(2 * MAX_BYTES));
          if (params?.name === 'cut') response.destroy();
          else if (params?.name === 'big') answerJson(response, big);
          else if (params?.name === 'streamed') openStream(response).end(event(big));
          else openStream(response);
          if (params?.name !== 'ask') return;
          asking = { id, response };
          // not on the stream of its call: nothing names its call
          tiny.stream?.write(event(QUESTION));
        },
        POST: (reply, response) => {
          response.writeHead(202).end();
          told(reply as Told);
          asking?.response.end(event(saying(asking.id, 'asked')));
        },
      },
    });
    return tiny.url;
  },
  async sse(told: (reply: Told) => void, began: () => void) {
    let asking: unknown;
    const tiny = await tinySse({
      on: {
        'tools/call': ({ id, params }, response) => {
          began();
          response.writeHead(202).end();
          if (params?.name !== 'ask') return;
          asking = id;
          tiny.stream?.write(event(QUESTION));
        },
        POST: (reply, response) => {
          response.writeHead(202).end();
          told(reply as Told);
          tiny.stream?.write(event(saying(asking, 'asked')));
        },
      },
    });
    return tiny.url;
  },
  async websocket(told: (reply: Told) => void, began: () => void) {
    const tiny = await tinyWebsocket({
      'tools/call': ({ id, params }, socket) => {
        began();
        if (params?.name !== 'ask') return;
        socket.once('message', (bytes) => {
          told(JSON.parse(bytes.toString()) as Told);
          socket.send(saying(id, 'asked'));
        });
        socket.send(QUESTION);
      },
    });
    return tiny.url;
  },
};

async function openLinkTo(transport: keyof typeof SERVERS) {
  const told: Told[] = [];
  let began = deferred<void>();
  const url = await SERVERS[transport](
    (reply) => void told.push(reply),
    () => began.resolve(),
  );
  const { link, opened } = open(remoteSpec(transport, url, { maxMessageBytes: MAX_BYTES }));
  await opened;
  const asked: string[] = [];
  const send = async (caller: string, name: string) => {
    began = deferred<void>();
    const outcome = deferred<Outcome>();
    const ask: Ask = async () => {
      asked.push(caller);
      return { action: 'accept', content: {} };
    };
    const handle = link.session.send(
      { method: 'tools/call', params: { name, arguments: {} }, caller },
      { settle: outcome.resolve, ask },
    );
    await began.promise;
    return { handle, outcome: outcome.promise };
  };
  return { told, asked, send };
}

describe.each(['http', 'sse', 'websocket'] as const)('a question of a remote server (%s)', (transport) => {
  it('reaches the agent that has the only calls', async () => {
    const { told, asked, send } = await openLinkTo(transport);
    await send('a', 'held');
    expect(await (await send('a', 'ask')).outcome).toMatchObject({ ok: true });
    expect(told).toMatchObject([{ result: { action: 'accept' } }]);
    expect(asked).toEqual(['a']);
  });

  it('is refused while a call that another agent has cancelled is unanswered', async () => {
    const { told, asked, send } = await openLinkTo(transport);
    const held = await send('a', 'held');
    held.handle?.cancel();
    expect(await held.outcome).toMatchObject({ ok: false });
    expect(await (await send('b', 'ask')).outcome).toMatchObject({ ok: true });
    expect(told).toMatchObject([{ error: { message: expect.stringContaining('toolherd restart far') } }]);
    expect(asked).toEqual([]);
  });
});

it('a call over HTTP whose connection was cut is unanswered too', async () => {
  const { told, asked, send } = await openLinkTo('http');
  expect(await (await send('a', 'cut')).outcome).toMatchObject({ ok: false, error: { sent: true } });
  expect(await (await send('b', 'ask')).outcome).toMatchObject({ ok: true });
  expect(told).toMatchObject([{ error: { message: expect.stringContaining('toolherd restart far') } }]);
  expect(asked).toEqual([]);
});

it.each(['big', 'streamed'])(
  'a call over HTTP with a too large reply (%s) is answered: another agent’s question reaches that agent',
  async (name) => {
    const { told, asked, send } = await openLinkTo('http');
    const { outcome } = await send('a', name);
    expect(await outcome).toMatchObject({ ok: false, error: { type: 'ResultTooLargeError', sent: true } });
    expect(await (await send('b', 'ask')).outcome).toMatchObject({ ok: true });
    expect(told).toMatchObject([{ result: { action: 'accept' } }]);
    expect(asked).toEqual(['b']);
  },
);
