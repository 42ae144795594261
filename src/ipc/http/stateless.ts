import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ToolEntry } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Incoming } from '../jsonrpc/message.js';
import type { FleetServer } from '../server/fleet-server.js';
import { HerdConnection } from './herd-connection.js';
import { asksForHeaders, headerMismatch, paramDisagreement } from './mcp-2026.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import { Reply } from './reply.js';
import type { Scope } from './routes.js';
import type { LineChunks } from './virtual-connection.js';

export interface StatelessOptions {
  scope: Scope;
  request: Extract<Incoming, { kind: 'request' }>;
  headers: IncomingHttpHeaders;
  line: string | Buffer;
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
  response: ServerResponse;
}

/** The HTTP status for error codes that concern the request itself. */
const STATUS: Readonly<Record<number, number>> = {
  [CODE.parse]: 400,
  [CODE.invalidRequest]: 400,
  [CODE.methodNotFound]: 404,
  [MCP_CODE.headerMismatch]: 400,
  [MCP_CODE.missingCapability]: 400,
  [MCP_CODE.unsupportedVersion]: 400,
};
/** After this time the response begins as an event stream, so that the client sees that the daemon works on it. */
const SLOW_MS = 1000;

/**
 * One request of 2026-07-28. It gets a connection to the herd, which ends with the reply. There is no session that the
 * client could resume, so closing the response cancels the request.
 */
export async function serveStateless(options: StatelessOptions): Promise<void> {
  const { scope, request, line, server, clock, response } = options;
  const { id } = request;
  const reply = new Reply(response, { clock, onLost: () => hangUp() });
  const timer = clock.setTimeout(() => reply.begin(), SLOW_MS);
  const onMessage = (message: LineChunks) => {
    const head = headOf(message);
    if (head?.kind === 'notification') reply.event(message);
    if (head?.kind !== 'reply' || head.id !== id) return;
    if (reply.state === 'waiting') reply.json(head.isError ? statusOf(message) : 200, message);
    else reply.event(message);
    reply.end();
    hangUp();
  };
  const connection = new HerdConnection({
    ...{ scope, server, onMessage, onClosed: () => reply.end() },
    isStateless: true,
  });
  const hangUp = () => {
    clock.clearTimeout(timer);
    connection.destroy();
  };
  const refusal = (await connection.hello()) ?? (await paramRefusal(connection, options));
  if (refusal === undefined) connection.send(line);
  else {
    reply.refuse({ ...refusal, id });
    hangUp();
  }
}

/** Only with a server in the scope: a search for the tool in the whole herd would start servers that never ran. */
async function paramRefusal(
  connection: HerdConnection,
  { scope: { server }, request: { method, params }, headers }: StatelessOptions,
): Promise<Refusal | undefined> {
  if (server === undefined || method !== 'tools/call') return undefined;
  const list = await connection.request('fleet/tools', { server });
  if (list === undefined || !asksForHeaders(list.chunks)) return undefined;
  const { result } = parse(list) as { result?: { tools: ToolEntry[] } };
  const { name, arguments: args } = params as { name?: unknown; arguments?: unknown };
  const tool = result?.tools.find((entry) => entry.name === name || entry.exposed_name === name);
  const disagreement = paramDisagreement(tool?.input_schema, args, headers);
  return disagreement === undefined ? undefined : headerMismatch(disagreement);
}

function statusOf(message: LineChunks): number {
  const { error } = parse(message) as { error: { code: number } };
  return STATUS[error.code] ?? 200;
}
