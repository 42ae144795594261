import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../../../../src/shared/version.js';
import { config } from '../../../../faults/config.js';
import { startBridge } from '../../../../support/bridge.js';
import { makeHome } from '../../../../support/herd.js';

it('a bridge keeps at most 64 MiB of requests for the next daemon, and refuses more', async () => {
  const home = makeHome(config([]));
  mkdirSync(dirname(home.socket), { recursive: true, mode: 0o700 });
  // a daemon that is being replaced and never ends; this process is its successor
  const server = createServer((connection) => {
    const text = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
    const notice = text({
      method: 'fleet/closing',
      params: { reason: 'replaced', successor: process.pid },
    });
    createInterface({ input: connection }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as { id: unknown; method: string };
      const result = { daemon: { version: VERSION, pid: 1, closing: null }, api_version: 1 };
      // in one piece: who has the answer has the notice
      connection.write(`${text({ id, result })}${method === 'ping' ? notice : ''}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  onTestFinished(() => void server.close());
  const bridge = startBridge(home);
  bridge.say({ id: 'ping', method: 'ping' });
  await bridge.reply('ping');
  const value = 'x'.repeat(2 ** 20);
  for (let id = 1; id <= 70; id += 1) bridge.say({ id, method: 'tools/call', params: { value } });
  const { error } = await bridge.reply(70);
  expect(error).toMatchObject({
    message: expect.stringMatching(/tools\/call was not sent.*64 MiB/),
    data: { type: 'OverloadedError', retryable: true, sent: false },
  });
  const refused = bridge.lines.filter((line) => line.error !== undefined).map(({ id }) => id);
  expect(refused).toEqual([64, 65, 66, 67, 68, 69, 70]);
});
