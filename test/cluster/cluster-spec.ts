import type { ClusterSpec } from '../../src/config/fields/spec.js';

export function clusterSpec(url: string, node: string, more: Partial<ClusterSpec> = {}): ClusterSpec {
  return {
    engine: 'nats',
    name: 'test',
    servers: [url],
    node,
    share: ['*'],
    use: ['*'],
    credentials: undefined,
    tls: undefined,
    ...more,
  };
}
