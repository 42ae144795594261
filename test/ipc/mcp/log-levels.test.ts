import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as wire from '../../../src/shared/mcp/mcp-names.js';
import { config, server } from '../../faults/config.js';
import { until } from '../../support/until.js';
import { type LineClient, startMcp, textOf } from './support.js';

/** A herd with a server that remembers the levels that it was asked for. */
async function startChatty(fields: Record<string, unknown> = {}) {
  const herd = await startMcp(config([server('chatty', 'chatty.mjs', fields)]));
  const asker = herd.client();
  const levels = async (from = asker): Promise<string[]> => {
    const params = { name: 'chatty__levels', arguments: {} };
    return JSON.parse(textOf(await from.ask('levels', 'tools/call', params)));
  };
  await levels();
  return { ...herd, levels };
}

const setLevel = (client: LineClient, level: string) => client.ask(level, 'logging/setLevel', { level });

describe('the log level of a server', () => {
  it('is the lowest that an agent or daemon.log_level wants, also after an agent has left', async () => {
    const { client, levels } = await startChatty();
    const [loud, quiet] = [client(), client()];
    expect(await levels()).toEqual(['info']);
    await setLevel(quiet, 'error');
    expect(await levels()).toEqual(['info']);
    await setLevel(loud, 'debug');
    expect(await levels()).toEqual(['info', 'debug']);
    await setLevel(quiet, 'debug');
    loud.close();
    await setLevel(quiet, 'warning');
    await until(async () => (await levels()).length === 3);
    expect(await levels()).toEqual(['info', 'debug', 'info']);
  });

  it('follows a changed daemon.log_level, and so does the log file', async () => {
    const { home, levels, fleet, say } = await startChatty();
    const change = async (log_level: string) => {
      home.configure(config([server('chatty', 'chatty.mjs')], { log_level }));
      await fleet.reload();
    };
    await change('debug');
    await until(async () => (await levels()).at(-1) === 'debug');
    await say('chatty', 'log', { messages: [{ level: 'debug', data: 'fine' }] });
    const file = join(home.folder, 'state', 'logs', 'servers', 'chatty.log');
    await until(() => readFileSync(file, 'utf8').includes('"fine"'));
    await change('warn');
    await until(async () => (await levels()).at(-1) === 'warning');
    expect(await levels()).toEqual(['info', 'debug', 'warning']);
  });

  it('is what agents want already when its process starts', async () => {
    const { client, levels, fleet } = await startChatty();
    await setLevel(client(), 'debug');
    await fleet.restart({ servers: ['chatty'] }, true);
    expect(await levels()).toEqual(['debug']);
  });

  it('brings debug messages to the agent that wants them, and to no other', async () => {
    const { client } = await startChatty();
    const [loud, quiet] = [client(), client()];
    await setLevel(quiet, 'info');
    await setLevel(loud, 'debug');
    const messages = [
      { level: 'debug', data: 'fine' },
      { level: 'info', data: 'coarse' },
    ];
    await loud.ask('say', 'tools/call', { name: 'chatty__log', arguments: { messages } });
    const told = (one: LineClient) => one.heard('notifications/message').map(({ params }) => params?.data);
    await until(() => told(loud).length === 2 && told(quiet).length === 1);
    expect([told(loud), told(quiet)]).toEqual([['fine', 'coarse'], ['coarse']]);
  });

  it('is that of one agent where each agent has a process for itself', async () => {
    const { client, levels } = await startChatty({ sharing: 'per-agent' });
    const other = client();
    expect(await levels(other)).toEqual(['info']);
    await setLevel(other, 'debug');
    expect([await levels(other), await levels()]).toEqual([['info', 'debug'], ['info']]);
  });

  it('follows a request of 2026-07-28 that wants a lower one, until its reply', async () => {
    const { client, levels } = await startChatty();
    const modern = client();
    const _meta = {
      [wire.PROTOCOL_VERSION_KEY]: '2026-07-28',
      [wire.CLIENT_INFO_KEY]: { name: 'modern', version: '1' },
      [wire.CLIENT_CAPABILITIES_KEY]: {},
      [wire.LOG_LEVEL_KEY]: 'debug',
    };
    const params = { name: 'chatty__levels', arguments: {}, _meta };
    expect(textOf(await modern.ask('one', 'tools/call', params))).toBe('["info","debug"]');
    expect(await levels()).toEqual(['info', 'debug', 'info']);
  });
});
