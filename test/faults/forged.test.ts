import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LineClient, textOf } from '../ipc/mcp/support.js';
import { startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

async function startForger() {
  const herd = await startHerd(config([server('it', 'hostile.mjs')]));
  await herd.fleet.tools('it');
  const strays = async () => {
    const file = join(herd.home.folder, 'state', 'logs', 'servers', 'it.log');
    // it is there when the first line is
    const text = await readFile(file, 'utf8').catch(() => '');
    return [...text.matchAll(/(reply|progress)[^"]* reached no call; (\d+) so far/g)].map(
      ([, kind, count]) => `${kind} ${count}`,
    );
  };
  return { ...herd, strays };
}

const call = (name: string, args = {}) => ({
  name: `it__${name}`,
  arguments: args,
  _meta: { progressToken: 't' },
});

describe('U4: a server that sends replies without a request', () => {
  it('has repeated replies, forged ids and foreign tokens dropped and counted in the log', async () => {
    const { home, strays } = await startForger();
    const [victim, other] = [new LineClient(home.socket), new LineClient(home.socket)];
    // without a token: any progress for it is foreign
    victim.say({ id: 1, method: 'tools/call', params: { name: 'it__victim', arguments: {} } });
    await victim.settle();
    expect(textOf(await other.ask(1, 'tools/call', call('twice')))).toBe('first');
    expect(textOf(await other.ask(1, 'tools/call', call('forge')))).toBe('mine');
    expect(textOf(await other.ask(1, 'tools/call', call('progress')))).toBe('quiet');
    await other.settle();
    // it gets progress for its own token; the four others belong to no call
    expect(other.heard('notifications/progress')).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1, progressToken: 't' } },
    ]);
    expect(victim.lines.filter(({ id }) => id === 1)).toEqual([]);

    await other.ask(1, 'tools/call', call('release'));
    const own = await until(() => victim.lines.find(({ id }) => id === 1));
    expect(textOf(own)).toBe('own');
    await victim.settle();
    await other.settle();
    expect(victim.lines.filter(({ id }) => id === 1)).toHaveLength(1);
    expect(victim.heard('notifications/progress')).toEqual([]);
    expect(other.lines.filter(({ id }) => id === 1)).toHaveLength(4);
    expect(await until(async () => (await strays()).length > 1 && (await strays()).sort())).toEqual([
      'progress 1',
      'reply 1',
    ]);
  });

  it('a flood of replies fills no log and delays no call', async () => {
    const { say, strays, status } = await startForger();
    expect(await say('it', 'flood', { times: 20_000 })).toBe('dry');
    expect(await say('it', 'twice')).toBe('first');
    const seen = await until(async () => (await strays()).length >= 5 && (await strays()));
    expect(seen).toEqual(['reply 1', 'reply 10', 'reply 100', 'reply 1000', 'reply 10000']);
    expect(await status('it')).toMatchObject({ state: 'connected', incarnation: 1, failures: 0 });
    measured(`U4: 20000 replies without a call reached no call and left ${seen.length} lines in the log`);
  });
});
