import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, TrustRequiredError } from '../../src/index.js';
import { server } from '../faults/config.js';
import { makeFolder } from '../support/folder.js';
import { startHerd, until } from '../support/herd.js';
import { silentSocket } from '../support/silent-socket.js';
import { HERD, itIsAFleet } from './contract.js';

async function open() {
  const { home } = await startHerd(HERD);
  const fleet = await connect({ socket: home.socket });
  onTestFinished(() => fleet.close());
  return { fleet, configFile: home.configFile };
}

describe('a fleet of the daemon', () => {
  itIsAFleet(open);

  it('leaves the daemon and its servers running when it is closed', async () => {
    const { home } = await startHerd(HERD);
    const first = await connect({ socket: home.socket });
    const { pids } = await first.server('good').connect();
    await first.close();
    const second = await connect({ socket: home.socket });
    onTestFinished(() => second.close());
    expect(await second.server('good').status()).toMatchObject({ state: 'connected', pids });
  });

  it('a refused agent file is the same error as for a fleet in this process', async () => {
    const { home } = await startHerd(HERD);
    const entry = { type: 'mcp', ...server('mine', 'good.mjs') };
    const project = makeFolder({ 'agent.yaml': `tools:\n  - ${JSON.stringify(entry)}\n` });
    const agent = join(project, 'agent.yaml');
    const refusal = connect({ socket: home.socket, agent });
    await expect(refusal).rejects.toBeInstanceOf(TrustRequiredError);
    await expect(refusal).rejects.toMatchObject({ code: 1040, data: { file: agent } });
  });

  it('fails after the timeout if a socket accepts the connection and no process answers', async () => {
    const { path, connections } = await silentSocket();
    await expect(connect({ socket: path, timeoutMs: 200 })).rejects.toMatchObject({
      type: 'DaemonUnreachableError',
      message: `the process that listens on ${path} has not answered for 0.2 s`,
      fix: `end it (the pid of a daemon is in ${path}.lock), then start one with 'toolherd up'`,
    });
    // and the connection is not left open
    await until(() => connections.length === 1 && connections[0]?.closed);
  });
});
