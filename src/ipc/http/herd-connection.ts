import { VERSION } from '../../version.js';
import type { FleetServer } from '../socket-server.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import type { Place } from './routes.js';
import { type Message, VirtualConnection } from './virtual-connection.js';

const HELLO = '"hello"';
const STATUS: Readonly<Record<string, number>> = {
  ServerNotFoundError: 404,
  TrustRequiredError: 403,
  OverloadedError: 503,
};

/**
 * A virtual connection to the herd that has said which part of it is wanted. Everything that the socket does for a
 * connection (ids, progress, questions, logs, cancellation) it does for a client of HTTP too, because it is one.
 */
export async function connectTo(
  place: Place,
  server: Pick<FleetServer, 'accept'>,
  on: { heard(message: Message): void; closed(): void; isStateless?: boolean },
): Promise<VirtualConnection | Refusal> {
  return new Promise((resolve) => {
    let hear = (message: Message) => {
      hear = on.heard;
      const head = headOf(message);
      const refusal = head?.kind === 'reply' && head.isError ? refusalOf(message) : undefined;
      if (refusal !== undefined) connection.destroy();
      resolve(refusal ?? connection);
    };
    const connection = new VirtualConnection(
      (message) => hear(message),
      () => {
        resolve({ status: 503, message: 'the daemon ends' });
        on.closed();
      },
    );
    server.accept(connection.stream, { isStateless: on.isStateless ?? false });
    const params = { client: { name: 'http', version: VERSION }, ...place };
    connection.say(
      `{"jsonrpc":"2.0","id":${HELLO},"method":"fleet/hello","params":${JSON.stringify(params)}}`,
    );
  });
}

export function isRefusal(outcome: VirtualConnection | Refusal): outcome is Refusal {
  return !(outcome instanceof VirtualConnection);
}

function refusalOf(message: Message): Refusal {
  const { error } = parse(message) as {
    error: { code: number; message: string; data?: { type?: string; why?: string; fix?: string } };
  };
  const { type = '', why, fix } = error.data ?? {};
  return { status: STATUS[type] ?? 400, code: error.code, message: error.message, why, fix, data: { type } };
}
