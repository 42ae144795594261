import { isUtf8 } from 'node:buffer';

/** What a mutated line may do must be the same for every client: nothing here stops the daemon, or every server. */
export function requestsOf(tag: string): string[] {
  const call = (value: string) => ({ server: 'good', tool: 'echo', arguments: { value: `${tag}-${value}` } });
  const modern = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'f', version: '1' },
    },
  };
  const asked: [method: string, params?: unknown][] = [
    ['fleet/hello', { client: { name: 'fuzz', version: '1' }, server: 'good' }],
    ['fleet/hello', { agent: '/nowhere/agent.yaml' }],
    ['fleet/status', { servers: ['good'] }],
    ['fleet/start', { servers: ['spare'], wait: true }],
    ['fleet/stop', { servers: ['spare'], wait: true }],
    ['fleet/reset', { servers: ['spare'] }],
    ['fleet/tools', { server: 'good', refresh: true }],
    ['fleet/prompts', { server: 'good' }],
    ['fleet/resources', { server: 'good' }],
    ['fleet/call', { ...call('a'), timeout_ms: 5000, request_id: 'r', _meta: { progressToken: 't' } }],
    [
      'fleet/call',
      { server: 'good', tool: 'progress', arguments: { times: 2 }, _meta: { progressToken: 1 } },
    ],
    [
      'fleet/call_many',
      { calls: [call('b'), call('c')], concurrency: 2, mode: 'quorum', quorum: 1, timeout_ms: 5000 },
    ],
    ['fleet/broadcast', { tool: 'echo', arguments: { value: `${tag}-d` }, servers: ['goo*'] }],
    [
      'fleet/request',
      { server: 'good', method: 'tools/call', params: { name: 'echo', arguments: { value: `${tag}-e` } } },
    ],
    ['fleet/prompt', { server: 'good', name: 'p', arguments: {} }],
    ['fleet/resource', { server: 'good', uri: 'note://x' }],
    ['fleet/subscribe', { topics: ['state', 'log', 'catalog', 'call', 'notification'], servers: ['good'] }],
    ['fleet/unsubscribe', { topics: ['state'] }],
    ['fleet/logs', { server: 'good', tail: 5, since: '2026-01-01T00:00:00Z', level: 'info' }],
    ['fleet/inspect', { server: 'good' }],
    [
      'fleet/register',
      { name: 'extra', description: 'd', server: 's', command: 'npx', args: ['-y', 's'], enabled: false },
    ],
    ['fleet/unregister', { name: 'extra' }],
    ['fleet/metrics', {}],
    ['fleet/reload', { dry_run: true }],
    ['fleet/logout', { server: 'good' }],
    [
      'initialize',
      {
        protocolVersion: '2025-11-25',
        capabilities: { sampling: {} },
        clientInfo: { name: 'f', version: '1' },
      },
    ],
    ['ping'],
    ['tools/list', { cursor: undefined }],
    ['tools/call', { name: 'good__echo', arguments: { value: `${tag}-f` }, _meta: { progressToken: 't' } }],
    ['prompts/get', { name: 'good__p' }],
    ['resources/read', { uri: 'note://x' }],
    ['resources/subscribe', { uri: 'note://x' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'good__p' }, argument: { name: 'a', value: 'b' } },
    ],
    ['logging/setLevel', { level: 'debug' }],
    ['server/discover', modern],
    ['tools/call', { name: 'good__echo', arguments: { value: `${tag}-g` }, ...modern }],
    [
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['note://x'] }, ...modern },
    ],
  ];
  const told: [method: string, params?: unknown][] = [
    ['$/cancel', { id: 3 }],
    ['notifications/cancelled', { requestId: 4, reason: 'x' }],
    ['notifications/initialized'],
    ['notifications/progress', { progressToken: 't', progress: 1 }],
    ['fleet/call', call('h')],
  ];
  const requests = asked.map(([method, params], at) =>
    JSON.stringify({ jsonrpc: '2.0', id: at % 7, method, params }),
  );
  const notes = told.map(([method, params]) => JSON.stringify({ jsonrpc: '2.0', method, params }));
  const replies = [
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"q","error":{"code":1,"message":"no"}}',
  ];
  const batches = [`[${requests.slice(2, 5).join()}]`, `[${requests[9]},${notes[1]},7,${requests[26]}]`];
  return [...requests, ...notes, ...replies, ...batches];
}

export interface Expected {
  /** The id of every answer that has to come; 'null' for what has none. */
  ids: string[];
  /** Ids that may stay unanswered: cancelled, or still open. */
  free: Set<string>;
  /** It asks for the end of the daemon, or is HTTP: another matter. */
  isOther: boolean;
}

const MOST_DEEP = 1000;
const LONGEST = 8 * 2 ** 20;

/** The expected replies to these bytes, computed without the daemon's parser. */
export function expectedOf(bytes: Buffer): Expected {
  const expected: Expected = {
    ids: [],
    free: new Set(),
    isOther: /^(GET|POST|DELETE|HEAD|OPTIONS|PUT|PATCH) /.test(bytes.toString('latin1', 0, 9)),
  };
  let start = 0;
  for (let end = bytes.indexOf(10); start < bytes.length; end = bytes.indexOf(10, start)) {
    const stop = end === -1 ? bytes.length : end;
    const line = bytes.subarray(start, bytes[stop - 1] === 13 && stop > start ? stop - 1 : stop);
    if (line.length > 0) expectLine(line, expected);
    start = stop + 1;
  }
  return expected;
}

function expectLine(line: Buffer, expected: Expected): void {
  let value: unknown;
  try {
    if (!isUtf8(line) || line.length > LONGEST) throw new Error();
    value = JSON.parse(line.toString());
  } catch {
    expected.ids.push('null');
    return;
  }
  if (depthOf(line.toString()) > MOST_DEEP) expected.ids.push('null');
  else if (!Array.isArray(value)) expectMessage(value, expected);
  else if (value.length === 0 || value.length > 10_000) expected.ids.push('null');
  else for (const one of value) expectMessage(one, expected);
}

function expectMessage(value: unknown, expected: Expected): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    expected.ids.push('null');
    return;
  }
  const { id, method, params, jsonrpc, result, error } = value as Record<string, unknown>;
  const hasId = Object.hasOwn(value, 'id');
  const isId = typeof id === 'string' || typeof id === 'number' || id === null;
  if (method === 'fleet/shutdown') expected.isOther = true;
  if (method === 'subscriptions/listen') expected.free.add(idKey(id));
  if (method === 'notifications/cancelled' && typeof params === 'object' && params !== null)
    expected.free.add(idKey((params as Record<string, unknown>).requestId));
  const isReply =
    method === undefined &&
    ((result !== undefined && error === undefined) || (isError(error) && result === undefined));
  const isNote =
    typeof method === 'string' &&
    !hasId &&
    result === undefined &&
    error === undefined &&
    (params === undefined || typeof params === 'object');
  if ((!hasId || isId) && jsonrpc === '2.0' && (isReply || isNote)) return;
  expected.ids.push(hasId && isId ? idKey(id) : 'null');
}

const isError = (error: unknown) => {
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return (
    typeof error === 'object' &&
    !Array.isArray(error) &&
    typeof code === 'number' &&
    typeof message === 'string'
  );
};

export const idKey = (id: unknown) => (id === null ? 'null' : `${typeof id} ${String(id)}`);

function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (part === '[' || part === '{') depth += 1;
    else if (part === ']' || part === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
