import { describe, expect, it, onTestFinished } from 'vitest';
import { connectSocket } from '../../../src/ipc/socket/connect-socket.js';
import { FakeFleet } from '../fake-fleet.js';
import { serve } from '../support.js';

async function open() {
  const fleet = new FakeFleet();
  const { path } = await serve(fleet);
  const peer = await connectSocket({ path });
  onTestFinished(() => peer.destroy());
  return { fleet, peer };
}

describe('methods of the socket', () => {
  it('logs: an invalid param is refused with the valid values', async () => {
    const { peer } = await open();
    const wrong: [object, string][] = [
      [{ since: 'yesterday' }, "'since' must be a time such as"],
      [{ level: 'loud' }, 'known are: trace, debug, info, warn, error, fatal'],
      [{ tail: 0 }, "'tail' must be a whole number"],
    ];
    for (const [params, message] of wrong) {
      await expect(peer.request('fleet/logs', params)).rejects.toMatchObject({
        type: 'InvalidParamsError',
        message: expect.stringContaining(message),
      });
    }
  });

  it('register: the params are the document without _meta', async () => {
    const { fleet, peer } = await open();
    await peer.request('fleet/register', { name: 'a', server: 's', _meta: { folder: '/f' } });
    expect(fleet.heard).toEqual([['register', { name: 'a', server: 's' }, '/f']]);
    await expect(peer.request('fleet/register', { name: 'a', _meta: { folder: 'f' } })).rejects.toMatchObject(
      {
        type: 'InvalidParamsError',
        message: expect.stringContaining('full path'),
      },
    );
  });

  it('metrics: the result is the text', async () => {
    const { peer } = await open();
    expect(await peer.request('fleet/metrics')).toMatch(/^toolherd_servers 2$/m);
  });
});
