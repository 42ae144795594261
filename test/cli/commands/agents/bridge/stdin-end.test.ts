import { expect, it } from 'vitest';
import { config, server } from '../../../../faults/config.js';
import { toolherd } from '../../../../support/command.js';
import { startHerd } from '../../../../support/herd.js';

it('I2: requests in flight when stdin ends are answered, each once', async () => {
  const { home, fleet } = await startHerd(config([server('good', 'good.mjs')]));
  await fleet.tools('good');
  const clientInfo = { name: 'test', version: '1' };
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const ids = Array.from({ length: 20 }, (_, index) => index + 2);
  const call = (id: number) => ({
    id,
    method: 'tools/call',
    params: { name: 'good__echo', arguments: { value: `#${id}` } },
  });
  const messages = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    ...ids.map(call),
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  for (let round = 0; round < 3; round += 1) {
    const { stdout } = await toolherd(['bridge'], { env: home.environment, cwd: home.folder, input });
    const replies = stdout
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as { id?: number; error?: unknown })
      .filter(({ id }) => id !== undefined);
    expect(replies.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual([1, ...ids]);
    expect(replies.filter(({ error }) => error !== undefined)).toEqual([]);
  }
});
