import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everything, type Remote, type RemoteServer } from '../../support/remote-servers.js';
import { errorOf, open, remoteSpec } from './support.js';

describe.each<Remote>(['http', 'sse', 'websocket'])('FR-002: a real server over %s', (transport) => {
  let server: RemoteServer;
  beforeAll(async () => {
    server = await everything(transport);
  });
  afterAll(() => server.kill());

  const connect = async () => {
    const one = open(remoteSpec(transport, server.url));
    const opened = await one.opened;
    return { ...one, opened };
  };

  it('US6.1 US7.1 US7.2 US8.1: shakes hands, lists, answers, and is left properly', async () => {
    const { opened, link, tool, ended, logs } = await connect();
    expect(opened).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { tools: {} } });
    const tools = await link.list('tools/list');
    expect(tools.map(({ name }) => name)).toContain('echo');
    await link.ping(5000);
    expect(await tool('echo', { message: 'ünïcode' })).toContain('ünïcode');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => tool('get-sum', { a: index, b: 1 })),
    );
    for (const [index, answer] of answers.entries()) expect(answer).toContain(String(index + 1));
    link.close();
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    expect(link.session.strays).toEqual({ replies: 0, progress: 0, broken: 0, oversized: 0 });
    expect(logs).toEqual([]);
  });

  it('reports progress, and its own errors', async () => {
    const { link } = await connect();
    const seen: unknown[] = [];
    const onProgress = (progress: Record<string, unknown>) => seen.push(progress.progress);
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
    await link.session.call('tools/call', params, { onProgress });
    expect(seen).toEqual([1, 2, 3, 4]);
    const error = await errorOf(link.session.call('absent/method'));
    expect(error).toMatchObject({ type: 'MCPProtocolError', rpc: { code: -32601 } });
  });

  it('a cancelled call does not affect others', async () => {
    const { link, tool } = await connect();
    await tool('echo', { message: 'here' });
    const controller = new AbortController();
    const params = { name: 'trigger-long-running-operation', arguments: { duration: 20, steps: 1 } };
    const call = errorOf(link.session.call('tools/call', params, { signal: controller.signal }));
    const other = tool('echo', { message: 'still here' });
    controller.abort(new Error('changed my mind'));
    expect(await call).toMatchObject({ type: 'CancelledError', sent: true });
    expect(await other).toContain('still here');
    expect(await tool('echo', { message: 'and later' })).toContain('and later');
  });
});
