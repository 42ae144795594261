import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { limitConnections } from '../../src/daemon/connection-limit.js';
import { Descriptors } from '../../src/ipc/socket/descriptors.js';
import { systemClock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';

/** A address behind which there is room while `limit` is high. */
async function startListener(limit: number, isPublic = false) {
  const path = join(makeFolder(), 's');
  const state = { limit, entered: 0, warnings: [] as string[] };
  const accept = (socket: Socket) => {
    state.entered += 1;
    socket.end('welcome');
  };
  const server = createServer(
    { allowHalfOpen: true },
    limitConnections({
      accept,
      isPublic,
      warn: (warning) => state.warnings.push(warning),
      clock: systemClock,
      descriptors: new Descriptors(() => state.limit),
    }),
  ).listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });
  const open = () => {
    const client = connect(path).on('error', () => undefined);
    clients.push(client);
    return client;
  };
  const hears = (said: string) => {
    const client = open();
    client.end(said);
    return text(client).catch(() => '');
  };
  return { state, open, hears };
}

const REQUEST = '{"jsonrpc":"2.0","id":"a","method":"fleet/status"}\n';

test('P14: every connection is accepted while there is room, and nothing is logged', async () => {
  const { state, hears } = await startListener(100_000);
  expect(await hears(REQUEST)).toBe('welcome');
  expect(state).toMatchObject({ entered: 1, warnings: [] });
});

test('P14: each request gets an error with a fix if there is no room, also in a batch; a notification gets none', async () => {
  const { state, hears } = await startListener(1);
  const answer = JSON.parse(await hears(`{"jsonrpc":"2.0","method":"note"}\n${REQUEST}`));
  expect(answer).toMatchObject({
    id: 'a',
    error: { code: 1031, data: { type: 'OverloadedError', retryable: true, sent: false } },
  });
  expect(answer.error.data.fix).toContain('ulimit -n');
  const answers = (await hears(`[${REQUEST.trim()},{"jsonrpc":"2.0","id":2,"method":"x"}]\n{}\n`))
    .trim()
    .split('\n');
  expect(answers.map((line) => JSON.parse(line).id)).toEqual(['a', 2, null]);
  expect(await hears('GET /health HTTP/1.1\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 503 .*connection: close\r\n\r\n\{/s,
  );
  expect(state.entered).toBe(0);
  // once a minute is enough
  expect(state.warnings).toHaveLength(1);
});

test('P14: a silent or large client is closed soon if there is no room, and only a few are read at once', async () => {
  const { open, hears } = await startListener(1);
  const silent = [open(), open(), open(), open()];
  await Promise.all(silent.map((client) => once(client, 'connect')));
  expect(await hears(REQUEST)).toBe('');
  await Promise.all(silent.map((client) => once(client.resume(), 'close')));
  expect(JSON.parse(await hears(REQUEST)).id).toBe('a');
  expect(await hears('x'.repeat(100_000))).toBe('');
});

test('P14: a raised limit counts at once', async () => {
  const { state, hears } = await startListener(1);
  expect(await hears(REQUEST)).toContain('OverloadedError');
  state.limit = 100_000;
  expect(await hears(REQUEST)).toBe('welcome');
});

test('P14: a refused connection of a public port gets no reply; only the log has the reason', async () => {
  const { state, hears } = await startListener(1, true);
  expect(await hears(REQUEST)).toBe('');
  expect(await hears('GET /health HTTP/1.1\r\n\r\n')).toBe('');
  expect(state).toMatchObject({ entered: 0, warnings: [expect.stringContaining('no room')] });
});
