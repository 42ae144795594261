import { describe, expect, it } from 'vitest';
import { ListenRequests } from '../../../../src/link/protocol/mcp-2026/listen-requests.js';
import { MCPProtocolError } from '../../../../src/shared/call-errors.js';
import type { JsonObject } from '../../../../src/shared/json.js';
import { FakeClock } from '../../fake-clock.js';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const ID = 'io.modelcontextprotocol/subscriptionId';
const URI = 'note://one';

function listening() {
  const clock = new FakeClock();
  const sent: JsonObject[] = [];
  const cancelled: number[] = [];
  const told: unknown[] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const listenings = new ListenRequests({
    name: 'it',
    clock,
    send: (method, params) => {
      sent.push({ method, ...params });
      const reply = new Promise<JsonObject>((resolve, reject) => {
        ends.push({ resolve: () => resolve({}), reject });
      });
      reply.catch(() => undefined);
      return { id: sent.length, reply };
    },
    cancel: (id) => cancelled.push(id),
    notify: (method, params) => told.push([method, params]),
  });
  const acknowledge = (id: number, notifications: object, meta: object = { [ID]: id }) =>
    listenings.receive({ method: ACKNOWLEDGED, params: { notifications, _meta: meta } });
  return { clock, listenings, sent, cancelled, told, ends, acknowledge };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a resource of an MCP 2026 server', () => {
  it('is watched by its own subscription, until that is cancelled', async () => {
    const { listenings, sent, cancelled, acknowledge, clock } = listening();
    listenings.listenToLists({ tools: { listChanged: true }, prompts: {} });
    const watch = listenings.watch(URI);
    expect(sent).toEqual([
      { method: 'subscriptions/listen', notifications: { toolsListChanged: true } },
      { method: 'subscriptions/listen', notifications: { resourceSubscriptions: [URI] } },
    ]);
    acknowledge(1, { toolsListChanged: true });
    acknowledge(2, { resourceSubscriptions: [URI] });
    const unwatch = await watch;
    await unwatch();
    await unwatch();
    expect(cancelled).toEqual([2]);
    expect(clock.pending).toBe(0);
  });

  it('cannot be watched where the server refuses, ignores it or is silent', async () => {
    const { listenings, acknowledge, ends, clock, cancelled } = listening();
    const dropped = listenings.watch(URI);
    acknowledge(1, {});
    await expect(dropped).rejects.toThrow('does not report changes of note://one');
    const refused = listenings.watch(URI);
    ends[1]!.reject(new MCPProtocolError('no', { rpc: { code: -32603, message: 'full' } }));
    await expect(refused).rejects.toThrow('no');
    const silent = listenings.watch(URI);
    clock.advance(30_000);
    await expect(silent).rejects.toThrow('no answer to subscriptions/listen');
    const late = listenings.watch(URI);
    listenings.stop();
    await expect(late).rejects.toThrow('is gone');
    expect(cancelled).toEqual([1, 3]);
    expect(clock.pending).toBe(0);
  });

  it('is subscribed to again when the subscription ends, and a change is assumed', async () => {
    const { listenings, acknowledge, ends, clock, sent, told, cancelled } = listening();
    const watch = listenings.watch(URI);
    // an acknowledgement without an id is for the subscription that waits
    acknowledge(1, { resourceSubscriptions: [URI] }, {});
    const unwatch = await watch;
    ends[0]!.resolve();
    await turn();
    clock.advance(500);
    expect(sent).toHaveLength(2);
    expect(told).toEqual([]);
    acknowledge(2, { resourceSubscriptions: [URI] });
    expect(told).toEqual([['notifications/resources/updated', { uri: URI }]]);
    listenings.receive({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await unwatch();
    clock.advance(60_000);
    expect([sent.length, cancelled]).toEqual([2, []]);
  });
});
