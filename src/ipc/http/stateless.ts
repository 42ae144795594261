import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.js';
import type { FleetServer } from '../socket-server.js';
import { connectTo, isRefusal } from './herd-connection.js';
import { headOf, parse } from './message-head.js';
import { type Refusal, refuse } from './refusal.js';
import { Reply } from './reply.js';
import type { Place } from './routes.js';
import type { Message, VirtualConnection } from './virtual-connection.js';

export interface StatelessOptions {
  place: Place;
  line: string | Buffer;
  id: string;
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
  const { place, line, id, server, clock, response } = options;
  let connection: VirtualConnection | Refusal | undefined;
  const hangUp = () => {
    clock.clearTimeout(timer);
    if (connection !== undefined && !isRefusal(connection)) connection.destroy();
  };
  const reply = new Reply(response, { clock, onLost: hangUp });
  const timer = clock.setTimeout(() => reply.begin(), SLOW_MS);
  const heard = (message: Message) => {
    const head = headOf(message);
    if (head?.kind === 'notification') reply.event(message);
    if (head?.kind !== 'reply' || head.id !== id) return;
    if (reply.state === 'waiting') reply.json(head.isError ? statusOf(message) : 200, message);
    else reply.event(message);
    reply.end();
    hangUp();
  };
  connection = await connectTo(place, server, { heard, closed: () => reply.end(), isStateless: true });
  if (isRefusal(connection)) {
    clock.clearTimeout(timer);
    refuse(response, { ...connection, id });
  } else if (reply.state === 'ended') connection.destroy();
  else connection.say(line);
}

function statusOf(message: Message): number {
  const { error } = parse(message) as { error: { code: number } };
  return STATUS[error.code] ?? 200;
}
