import { openCluster } from '../../src/cluster/cluster.js';
import { systemClock } from '../../src/shared/clock.js';
import { clusterSpec } from './cluster-spec.js';

// a node of a cluster in a process that a test can kill: URL, name of the cluster, name of the node
const [url = '', name = '', node = ''] = process.argv.slice(2);
openCluster(clusterSpec(url, node, { name }), {
  clock: systemClock,
  accept: (stream) => void stream.pipe(stream),
  away: (_, why) => new Error(why),
  changed: () => undefined,
  reported: () => undefined,
  log: (text) => console.error(text),
});
