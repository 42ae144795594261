import { restartPolicy } from './entry/restart-policy.js';
import type { ClusterServerSpec, HerdServerSpec, Origin, ServerSpec } from './fields/spec.js';
import { COMMON, SERVER_HANDSHAKE_MS } from './read-herds.js';

/** A server that only other nodes of the cluster have. Several of them may have it. */
export function clusterServerSpec(name: string, identity: string, origin: Origin): ClusterServerSpec {
  return {
    ...COMMON,
    ...{ ...restartPolicy({ fields: {}, transport: 'http' }), restart: 'never' },
    name,
    server: name,
    origin,
    loadTools: true,
    loadPrompts: true,
    start: 'lazy',
    ping: { intervalMs: 0, timeoutMs: 0 },
    transport: 'cluster',
    url: `cluster://${encodeURIComponent(name)}`,
    timeoutMs: SERVER_HANDSHAKE_MS,
    cluster: { identity, balanced: true, isPlacedHere: false },
  };
}

/** The connection to a server on another node. That node restarts it; the limits of calls are those of the entry here. */
export function nodeServerSpec(spec: ServerSpec, node: string, remoteName: string): HerdServerSpec {
  const { name, origin, description, requestTimeoutMs, maxTimeoutMs, maxMessageBytes, maxInFlight } = spec;
  const { tools, loadTools, loadPrompts, resultLimit } = spec;
  return {
    ...COMMON,
    ...{ ...restartPolicy({ fields: {}, transport: 'http' }), restart: 'never' },
    ...{ name, origin, description, requestTimeoutMs, maxTimeoutMs, maxMessageBytes, maxInFlight },
    ...{ tools, loadTools, loadPrompts, resultLimit },
    server: remoteName,
    start: 'lazy',
    // streams notice by themselves that the other node is gone
    ping: { intervalMs: 0, timeoutMs: 0 },
    transport: 'herd',
    url: `cluster://${node}/${encodeURIComponent(remoteName)}`,
    timeoutMs: SERVER_HANDSHAKE_MS,
    herd: node,
    remoteName,
    isNode: true,
  };
}
