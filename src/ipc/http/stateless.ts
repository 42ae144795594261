import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ToolEntry } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import type { Incoming } from '../jsonrpc/message.js';
import type { FleetServer } from '../server/socket-server.js';
import { HerdConnection } from './herd-connection.js';
import { headerMismatch } from './mcp-2026.js';
import { headOf, parse } from './message-head.js';
import { asksForHeaders, paramDisagreement } from './param-headers.js';
import type { Refusal } from './refusal.js';
import { Reply } from './reply.js';
import type { Scope } from './routes.js';
import type { Message } from './virtual-connection.js';

export interface StatelessOptions {
  place: Scope;
  request: Extract<Incoming, { kind: 'request' }>;
  headers: IncomingHttpHeaders;
  line: string | Buffer;
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
  response: ServerResponse;
}

/** Codes that speak of the request itself, and which status says the same. */
const STATUS: Readonly<Record<number, number>> = {
  [-32_700]: 400,
  [-32_600]: 400,
  [-32_601]: 404,
  [-32_020]: 400,
  [-32_021]: 400,
  [-32_022]: 400,
};
/** By then a client wants to see that we live. */
const SLOW_MS = 1000;

/**
 * One request of 2026-07-28: a connection to the herd of its own, which ends with its reply. There is no session to come
 * back to, so a client that closes the response has cancelled the request.
 */
export async function serveStateless(options: StatelessOptions): Promise<void> {
  const { place, request, line, server, clock, response } = options;
  const { id } = request;
  const hangUp = () => {
    clock.clearTimeout(timer);
    connection.destroy();
  };
  const heard = (message: Message) => {
    const head = headOf(message);
    if (head?.kind === 'notification') reply.event(message);
    if (head?.kind !== 'reply' || head.id !== id) return;
    if (reply.state === 'waiting') reply.json(head.isError ? statusOf(message) : 200, message);
    else reply.event(message);
    reply.end();
    hangUp();
  };
  const connection = new HerdConnection({
    ...{ place, server, heard, closed: () => reply.end() },
    isStateless: true,
  });
  const reply = new Reply(response, { clock, onLost: hangUp });
  const timer = clock.setTimeout(() => reply.begin(), SLOW_MS);
  const refusal = (await connection.greet()) ?? (await paramRefusal(connection, options));
  if (refusal === undefined) connection.say(line);
  else {
    reply.refuse({ ...refusal, id });
    hangUp();
  }
}

/** Only where one server is shown: to look for a tool among all of them would start those that have never run. */
async function paramRefusal(
  connection: HerdConnection,
  { place: { server }, request: { method, params }, headers }: StatelessOptions,
): Promise<Refusal | undefined> {
  if (server === undefined || method !== 'tools/call') return undefined;
  const list = await connection.ask('fleet/tools', { server });
  if (list === undefined || !asksForHeaders(list.chunks)) return undefined;
  const { result } = parse(list) as { result?: { tools: ToolEntry[] } };
  const { name, arguments: args } = params as { name?: unknown; arguments?: unknown };
  const tool = result?.tools.find((entry) => entry.name === name || entry.exposed_name === name);
  const disagreement = paramDisagreement(tool?.input_schema, args, headers);
  return disagreement === undefined ? undefined : headerMismatch(disagreement);
}

function statusOf(message: Message): number {
  const { error } = parse(message) as { error: { code: number } };
  return STATUS[error.code] ?? 200;
}
