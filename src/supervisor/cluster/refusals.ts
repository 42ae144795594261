import type { ServerSpec } from '../../config/fields/spec.js';
import { type MCPError, ServerUnavailableError } from '../../shared/call-errors.js';

/** What a node answered instead of taking a call. */
export interface Refusal {
  /** Its name; undefined: this node. */
  node: string | undefined;
  error: MCPError;
}

const SEE_CLUSTER = 'see "toolherd cluster status"';

/** No node has taken the call. The first refusal stands where the others say the same. */
export function refusedByAll(name: string, refusals: readonly Refusal[]): MCPError {
  const { error } = refusals[0]!;
  if (refusals.every(({ error: other }) => other.message === error.message)) return error;
  const said = refusals.map(
    ({ node, error: { message } }) => `${node ?? 'this node'}: ${message.replace(`${name}: `, '')}`,
  );
  return new ServerUnavailableError(`${name}: no node took the call`, {
    retryable: refusals.some(({ error: { retryable } }) => retryable),
    why: `it was not sent; ${said.join('; ')}`,
    fix: error.fix ?? SEE_CLUSTER,
  });
}

/** No replica runs here, and no other node offers the server. */
export function offeredNowhere(spec: ServerSpec): MCPError {
  const { message, why, fix } = nowhere(spec);
  return new ServerUnavailableError(message, { retryable: true, why: `${why}; the call was not sent`, fix });
}

/** The same in the status of the server. */
export function nowhere({ name, transport }: ServerSpec): { message: string; why: string; fix: string } {
  return {
    message: `${name}: no node of the cluster offers it now`,
    why:
      transport === 'cluster'
        ? 'the nodes that had it are away, drain, or do not share it any more'
        : `'place' of its entry does not name this node, and no node that it names offers it`,
    fix: SEE_CLUSTER,
  };
}

/** The node has left, drains, or does not offer the server any more. */
export function leftBy(name: string, node: string): MCPError {
  return new ServerUnavailableError(`${name}: node ${node} does not offer it any more`, {
    retryable: true,
    why: 'the call was not sent',
    fix: SEE_CLUSTER,
  });
}

/** A call of another node, for a server that does not run here any more. */
export function runsNotHere(name: string): MCPError {
  return new ServerUnavailableError(`${name}: does not run on this node`, {
    retryable: true,
    why: 'a call of another node is not passed on to a third one; the call was not sent',
    fix: SEE_CLUSTER,
  });
}

/** An order for a server without a replica on this node. `nodes`: those that offer it. */
export function ordersElsewhere(name: string, nodes: readonly string[]): MCPError {
  const [node] = nodes;
  const where = node === undefined ? 'no node offers it now' : `it runs on: ${nodes.join(', ')}`;
  return new ServerUnavailableError(`${name}: does not run on this node, so it takes no orders here`, {
    why: `the daemon of each node decides about its own servers; ${where}`,
    fix:
      node === undefined
        ? SEE_CLUSTER
        : `give the order on ${nodes.length === 1 ? node : 'one of these nodes'}`,
  });
}
