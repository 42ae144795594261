import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectNats } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { fixturePath, server } from '../faults/config.js';
import { measured } from '../faults/measured.js';
import { type Herd, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { atEnd } from '../support/share.js';
import { startNodes } from './daemons.js';
import { measure, median } from './speed.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the measurement of calls between nodes is left out: ${missing}`);

const ROUNDS = 600;
const PAIRS = 5;

const caller =
  ({ fleet }: Herd, name: string) =>
  async () => {
    const { error } = await fleet.call({ server: name, tool: 'echo', arguments: { value: 'x'.repeat(100) } });
    if (error !== null) throw new Error(error.message);
  };

describe.runIf(missing === undefined)('the speed of calls between nodes', () => {
  it('a call to another node takes little more than a local call and a request of NATS', async () => {
    const nats = await startNatsServer();
    const entry = (name: string) => server(name, 'good.mjs');
    const { here, there } = await startNodes(nats, { here: [entry('own')], there: [entry('other')] });
    await until(async () => (await here.say('other', 'echo', { value: 'x' })) === 'x');
    const echo = spawn(process.execPath, [fixturePath('nats-echo.mjs'), nats.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atEnd(() => echo.kill('SIGKILL'));
    await once(echo.stdout, 'data');
    const asker = await connectNats({ servers: nats.url });
    atEnd(() => asker.close());
    const payload = Buffer.alloc(200, 'x');
    const bare = () => asker.request('bare.echo', payload);
    const [local, remote] = [caller(here, 'own'), caller(here, 'other')];
    const ratios: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round <= PAIRS; round += 1) {
      const [b, l, r] = [
        await measure(bare, ROUNDS, 1),
        await measure(local, ROUNDS, 1),
        await measure(remote, ROUNDS, 1),
      ];
      const [bm, lm, rm] = [
        await measure(bare, 4 * ROUNDS, 64),
        await measure(local, 4 * ROUNDS, 64),
        await measure(remote, 4 * ROUNDS, 64),
      ];
      // the first warms up
      if (round === 0) continue;
      ratios.push(r.p50 / (b.p50 + l.p50));
      // of both, one after the other
      rates.push(rm.rate / (1 / (1 / bm.rate + 1 / lm.rate)));
    }
    const text = `p50 of a call to another node / of a local call and a bare request: ${median(ratios).toFixed(2)}; rate with 64 at once: ${median(rates).toFixed(2)}`;
    measured(`cluster: ${text}`);
    console.info(text);
    // other tests run beside this one, unless it is measured alone
    expect(median(ratios)).toBeLessThan(process.env.TOOLHERD_LONG ? 1.6 : 3);
    expect(median(rates)).toBeGreaterThan(process.env.TOOLHERD_LONG ? 0.6 : 0.3);
    expect((await there.status('other')).in_flight).toBe(0);
  });
});
