import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { openCluster } from '../../src/cluster/cluster.js';
import { systemClock } from '../../src/shared/clock.js';
import { bundle } from '../link/bundle.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { atEnd, share } from '../support/share.js';
import { until } from '../support/until.js';
import { clusterSpec } from './cluster-spec.js';

const missing = whyNoNatsServer();
const killable = bundle(new URL('./killable-node.ts', import.meta.url));

describe.runIf(missing === undefined)('a daemon that hung while another one took its name', () => {
  const nats = share(() => startNatsServer());

  it('a daemon that goes on after it has lost its name leaves it to the one that has it', async () => {
    const name = `frozen-${process.pid}`;
    const states: string[] = [];
    const open = (node: string) => {
      const cluster = openCluster(clusterSpec(nats().url, node, { name }), {
        clock: systemClock,
        accept: (stream) => void stream.pipe(stream),
        away: (_, why) => new Error(why),
        changed: () => {
          if (node === 'a') states.push(cluster.state);
        },
        reported: () => undefined,
        log: () => undefined,
      });
      atEnd(() => cluster.close());
      return cluster;
    };
    const b = open('b');
    await until(() => b.state === 'connected');
    const first = spawn(process.execPath, [(await killable).file, nats().url, name, 'a'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    first.stderr.on('data', (text) => {
      said += String(text);
    });
    atEnd(() => first.kill('SIGKILL'));
    await until(() => b.node('a')?.state === 'up');
    first.kill('SIGSTOP');
    const second = open('a');
    await until(() => second.state === 'connected');
    states.length = 0;
    first.kill('SIGCONT');
    await until(() => said.includes('is the node a of this cluster'));
    const instances = new Set<string | undefined>();
    const reports = b.node('a')?.reports ?? 0;
    await until(() => {
      instances.add(b.node('a')?.instance);
      return (b.node('a')?.reports ?? 0) > reports + 4;
    });
    expect({ states, instances: instances.size }).toEqual({
      states: states.map(() => 'connected'),
      instances: 1,
    });
    expect(await b.ping('a')).toEqual(expect.any(Number));
  });
});
