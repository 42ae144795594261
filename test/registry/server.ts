import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const MOST = 100;

type Reply = [status: number, body: unknown];
const NOT_FOUND: Reply = [404, { title: 'Not Found', status: 404, detail: 'Server not found' }];

/** One published version of a server. */
export interface Published {
  server: Record<string, unknown> & { name: string; version: string };
  status?: 'active' | 'deprecated' | 'deleted';
  statusMessage?: string;
  publishedAt?: string;
}

/** What the next request gets instead of a good answer. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** No answer while the client waits. */
  | 'silence'
  /** The connection breaks. */
  | 'reset';

export interface TestRegistry {
  /** For TOOLHERD_REGISTRY. */
  url: string;
  /** Path and query of every request. */
  requests: string[];
  /** What the next requests get, one each. */
  faults: Fault[];
  /** Inserted between the good items unchanged: a list may hold anything. */
  malformed: unknown[];
  close(): Promise<void>;
}

/** A registry that behaves like the official one (pages, cursors, versions, 404), and fails as a test orders. */
export async function startRegistry(published: readonly Published[]): Promise<TestRegistry> {
  const registry: TestRegistry = { url: '', requests: [], faults: [], malformed: [], close: () => close() };
  const server = createServer((request, response) => {
    registry.requests.push(request.url ?? '');
    const fault = registry.faults.shift();
    if (fault === 'silence') return;
    if (fault === 'reset') return void request.socket.destroy();
    const [status, body] =
      fault === undefined ? answer(request, published, registry.malformed) : [fault.status, {}];
    response.writeHead(status, { 'content-type': 'application/json', ...fault?.headers });
    response.end(fault?.body ?? JSON.stringify(body));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  registry.url = `http://127.0.0.1:${port}/v0.1`;
  onTestFinished(close);
  return registry;
}

function answer(
  { url }: IncomingMessage,
  published: readonly Published[],
  malformed: readonly unknown[],
): Reply {
  const { pathname, searchParams } = new URL(url ?? '', 'http://registry');
  const [root, servers, name, versions, version] = pathname.slice(1).split('/').map(decodeURIComponent);
  if (root !== 'v0.1' || servers !== 'servers') return NOT_FOUND;
  if (name === undefined) return list(published, malformed, searchParams);
  const all = published.filter(({ server }) => server.name === name);
  if (versions !== 'versions' || all.length === 0) return NOT_FOUND;
  if (version === undefined) {
    const wrapped = all.map((one) => wrap(published, one));
    return [200, { servers: wrapped, metadata: { count: wrapped.length } }];
  }
  const one = all.find((each) =>
    version === 'latest' ? isLatest(published, each) : each.server.version === version,
  );
  return one === undefined ? NOT_FOUND : [200, wrap(published, one)];
}

function list(published: readonly Published[], malformed: readonly unknown[], query: URLSearchParams): Reply {
  const limit = Number(query.get('limit') ?? 30);
  if (!(limit >= 1 && limit <= MOST)) return [422, { title: 'Unprocessable Entity', status: 422 }];
  const search = (query.get('search') ?? '').toLowerCase();
  const cursor = query.get('cursor');
  const fitting = published.filter(
    (one) =>
      one.server.name.toLowerCase().includes(search) &&
      (query.get('version') !== 'latest' || isLatest(published, one)),
  );
  const start = cursor === null ? 0 : fitting.findIndex((one) => cursorOf(one) === cursor) + 1;
  const page = fitting.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + limit < fitting.length;
  const servers = [...malformed, ...page.map((one) => wrap(published, one))];
  return [
    200,
    { servers, metadata: { count: page.length, ...(hasMore ? { nextCursor: cursorOf(last) } : {}) } },
  ];
}

function cursorOf({ server }: Published): string {
  return `${server.name}:${server.version}`;
}

/** The last published version of a name. */
function isLatest(published: readonly Published[], one: Published): boolean {
  return published.findLast(({ server }) => server.name === one.server.name) === one;
}

function wrap(published: readonly Published[], one: Published): unknown {
  const { server, status = 'active', statusMessage, publishedAt = '2026-05-01T08:00:00Z' } = one;
  const about = {
    status,
    statusMessage,
    publishedAt,
    updatedAt: publishedAt,
    isLatest: isLatest(published, one),
  };
  return { server, _meta: { [OFFICIAL]: about } };
}
