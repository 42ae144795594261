import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findUser, userOf } from '../../src/dashboard/client-user.js';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1
`;

describe('the user of a client', () => {
  it('is that of its end of the connection, not of ours', () => {
    expect(findUser(TABLE, 0xc350, 0x1f90)).toBe(1001);
    expect(findUser(TABLE, 0x1f90, 0xc350)).toBe(1000);
  });

  it('is not known of a connection that the table does not have', () => {
    expect(findUser(TABLE, 0xc351, 0x1f90)).toBeUndefined();
    expect(findUser('', 0xc350, 0x1f90)).toBeUndefined();
    expect(findUser(TABLE, undefined, 0x1f90)).toBeUndefined();
  });

  it.each(['127.0.0.1', '::1'])('is our own for a connection of this process to %s', async (host) => {
    const users: (number | undefined)[] = [];
    const server = createServer((socket) => {
      users.push(userOf(socket));
      socket.end();
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as { port: number };
    const client = connect(port, host);
    await new Promise((resolve) => client.resume().on('close', resolve));
    // only Linux has the table
    expect(users).toEqual([process.platform === 'linux' ? process.getuid?.() : undefined]);
  });
});
