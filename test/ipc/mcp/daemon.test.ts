import { describe, expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { startMcp } from './support.js';

const COMMON = {
  title: 'A title',
  description: 'What it is',
  icons: [{ src: 'data:image/png;base64,AA==', mimeType: 'image/png', sizes: ['48x48'] }],
  _meta: { 'x/y': 1 },
  unheardOf: [1],
};
const ANNOTATIONS = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' };
const TOOL = {
  ...COMMON,
  inputSchema: { type: 'object', properties: { level: { type: 'string' } }, 'x-more': true },
  outputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, title: 'Old title' },
  execution: { taskSupport: 'optional' },
};

describe('MCP of the daemon', () => {
  it('lists tools, prompts and resources with every field of their server, fresh and cached', async () => {
    const { client, home, fleet, daemon } = await startMcp(config([server('d', 'described.mjs')]));
    const check = async () => {
      const mine = client();
      const listed = async (method: string) => (await mine.ask(method, method)).result;
      expect(await listed('tools/list')).toEqual({ tools: [{ name: 'd__log', ...TOOL }] });
      expect(await listed('prompts/list')).toEqual({
        prompts: [{ name: 'd__p', ...COMMON, arguments: [{ name: 'a', title: 'A', required: true }] }],
      });
      expect(await listed('resources/list')).toEqual({
        resources: [
          { uri: 'a://b', name: 'b', ...COMMON, mimeType: 'text/plain', size: 7, annotations: ANNOTATIONS },
        ],
      });
      expect(await listed('resources/templates/list')).toEqual({
        resourceTemplates: [
          { uriTemplate: 'a://{b}', name: 't', ...COMMON, mimeType: 'text/plain', annotations: ANNOTATIONS },
        ],
      });
      mine.close();
    };
    await check();
    await fleet.shutdown();
    await until(() => !isAlive(daemon.pid));
    await home.start();
    await check();
  });

  it('answers an invalid request with an error, and ignores a notification that it does not know', async () => {
    const { client } = await startMcp(config([server('good', 'good.mjs')]));
    const mine = client();
    await mine.hello();
    const code = async (method: string, params: unknown) =>
      (await mine.ask(`${method}-${JSON.stringify(params)}`, method, params as Record<string, unknown>)).error
        ?.code;
    for (const params of [
      [],
      { name: 7 },
      { name: '' },
      { name: 'good__nothing' },
      { name: 'good__echo', _meta: 7 },
    ]) {
      expect(await code('tools/call', params)).toBe(-32602);
    }
    for (const list of ['tools', 'prompts', 'resources', 'resources/templates']) {
      expect(await code(`${list}/list`, { cursor: 'made-up' })).toBe(-32602);
      expect(await code(`${list}/list`, { cursor: 7 })).toBe(-32602);
    }
    expect(await code('prompts/get', { name: 'good__nothing' })).toBe(-32602);
    expect(await code('prompts/get', {})).toBe(-32602);
    expect(await code('resources/read', {})).toBe(-32602);
    expect(await code('resources/read', { uri: 'gone://x' })).toBe(-32002);
    expect(await code('completion/complete', { ref: { type: 'ref/prompt' } })).toBe(-32602);
    expect(await code('logging/setLevel', {})).toBe(-32602);
    expect(await code('tasks/list', {})).toBe(-32601);
    const before = mine.lines.length;
    mine.say({ method: 'notifications/cancelled', params: { requestId: 'absent' } });
    mine.say({ method: 'notifications/cancelled', params: {} });
    mine.say({ method: 'notifications/roots/list_changed' });
    mine.say({ method: 'notifications/unheard/of', params: { a: 1 } });
    await mine.settle();
    expect(mine.lines).toHaveLength(before + 1);
  });

  it('passes the data of a log message unchanged; with one server the logger keeps its name', async () => {
    const { client } = await startMcp(config([server('d', 'described.mjs')]));
    const [herd, alone] = [client(), client()];
    await alone.ask(1, 'fleet/hello', { server: 'd' });
    for (const each of [herd, alone]) await each.ask(2, 'logging/setLevel', { level: 'debug' });
    const log = (data: unknown, logger?: string) =>
      alone.ask(3, 'tools/call', { name: 'log', arguments: { level: 'warning', data, logger } });
    await log({ a: [1, { b: null }] }, 'db');
    await log('{"a":1}');
    await log(7);
    await until(() => herd.heard('notifications/message').length === 3);
    const told = (one: typeof herd) => one.heard('notifications/message').map(({ params }) => params);
    const level = 'warning';
    expect(told(herd)).toEqual([
      { level, logger: 'd/db', data: { a: [1, { b: null }] } },
      { level, logger: 'd', data: '{"a":1}' },
      { level, logger: 'd', data: 7 },
    ]);
    expect(told(alone)).toEqual([
      { level, logger: 'db', data: { a: [1, { b: null }] } },
      { level, data: '{"a":1}' },
      { level, data: 7 },
    ]);
  });
});
