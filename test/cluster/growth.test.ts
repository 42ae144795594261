import { expect, it } from 'vitest';
import { type Cluster, type OfferedServer, openCluster } from '../../src/cluster/cluster.js';
import { systemClock } from '../../src/shared/clock.js';
import { measured } from '../faults/measured.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { freePort } from '../support/remote-servers.js';
import { atEnd } from '../support/share.js';
import { until } from '../support/until.js';
import { clusterSpec } from './cluster-spec.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the measurement of many nodes is left out: ${missing}`);

const NODES = process.env.TOOLHERD_LONG ? 100 : 8;
const SERVERS = 100;
const SECONDS = 5;

interface Traffic {
  in_msgs: number;
  out_msgs: number;
  in_bytes: number;
  out_bytes: number;
  cpu: number;
  mem: number;
  subscriptions: number;
  at: number;
}

function offers(node: number): OfferedServer[] {
  return Array.from({ length: SERVERS }, (_, index) => ({
    ...{ name: `server-${node}-${index}`, identity: 'abcdefghijklmnopqrstuv' },
    ...{ state: 'connected', detail: 'running', ready: true, may_start: true, cluster: true },
    in_flight: index % 10 === 0 ? 2 : 0,
  }));
}

it.runIf(missing === undefined)(
  'nodes that rest say one short message a second each, however many servers they have',
  async () => {
    const monitor = await freePort();
    const nats = await startNatsServer({ config: [`http: "127.0.0.1:${monitor}"`] });
    const traffic = async (): Promise<Traffic> => {
      const answer = await fetch(`http://127.0.0.1:${monitor}/varz`);
      return { ...((await answer.json()) as Traffic), at: performance.now() };
    };
    const nodes: Cluster[] = Array.from({ length: NODES }, (_, index) => {
      const cluster = openCluster(clusterSpec(nats.url, `node-${index}`), {
        clock: systemClock,
        accept: () => undefined,
        away: (_name, why) => new Error(why),
        changed: () => undefined,
        reported: () => undefined,
        log: () => undefined,
      });
      atEnd(() => cluster.close());
      cluster.publish(offers(index));
      return cluster;
    });
    const isComplete = ({ state, nodes: others }: Cluster) =>
      state === 'connected' &&
      others.filter((other) => other.state === 'up' && other.servers.length === SERVERS).length === NODES - 1;
    const waiting = [...nodes];
    await until(() => {
      while (waiting[0] !== undefined && isComplete(waiting[0])) waiting.shift();
      return waiting.length === 0;
    }, 90_000);
    let [before, after] = [await traffic(), await traffic()];
    const rate = (count: keyof Traffic) => ((after[count] - before[count]) / (after.at - before.at)) * 1000;
    // what the last nodes asked for as they came is over
    await until(async () => {
      after = await traffic();
      if (after.at - before.at < SECONDS * 1000) return false;
      if (rate('in_msgs') < 1.2 * NODES) return true;
      before = after;
      return false;
    }, 90_000);
    measured(
      `cluster: ${NODES} nodes with ${SERVERS} servers each: ${Math.round(rate('out_msgs'))} messages and ${Math.round(rate('out_bytes') / 1000)} kB a second from the NATS server, which needs ${after.cpu} % of a core and ${Math.round(after.mem / 2 ** 20)} MiB`,
    );
    expect(rate('in_msgs') / NODES).toBeLessThan(1.2);
    expect(rate('in_bytes') / rate('in_msgs')).toBeLessThan(600);
    expect(rate('out_msgs') / rate('in_msgs')).toBeLessThan(NODES + 3);
    expect(nodes.every(isComplete)).toBe(true);
  },
  180_000,
);
