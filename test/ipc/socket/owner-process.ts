import { createInterface } from 'node:readline';
import { FleetServer } from '../../../src/ipc/server/fleet-server.js';
import { claimSocket, type SocketOwner } from '../../../src/ipc/socket/socket-owner.js';
import { FakeFleet } from '../fake-fleet.js';

/**
 * A daemon without a herd, for tests that need real processes. Reads orders, one a line: `own PATH` claims a socket
 * and serves it, `close` gives it up. Answers each with a line of JSON. Ends with its stdin.
 */
const server = new FleetServer(new FakeFleet());
let owner: SocketOwner | undefined;

async function own(path: string): Promise<object> {
  try {
    const claim = await claimSocket(path);
    owner = await claim.listen({ onConnection: (socket) => server.accept(socket) });
    return { won: true };
  } catch (error) {
    const { type, pid, message } = error as { type?: string; pid?: number; message: string };
    return { won: false, type, pid, message };
  }
}

createInterface(process.stdin)
  .on('line', async (line) => {
    const [order, path = ''] = line.split(' ');
    if (order === 'close') owner?.close();
    console.log(JSON.stringify(order === 'own' ? await own(path) : {}));
  })
  .on('close', () => process.exit());
