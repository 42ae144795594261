import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/index.js';
import { startHerd } from '../support/herd.js';
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
});
