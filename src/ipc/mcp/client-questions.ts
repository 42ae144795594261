import type { OnRequest } from '../../fleet/fleet.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { Peer } from '../jsonrpc/peer.js';
import { RpcError } from '../jsonrpc/rpc-error.js';

/** The capabilities of a client, from `initialize` or from `_meta`. */
export type ClientCapabilities = Readonly<Record<string, unknown>>;

const CAPABILITY: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};

/** Sends a server's questions to the client whose call it works on; undefined where that client answers none. */
export function askClient(peer: Peer, capabilities: ClientCapabilities): OnRequest | undefined {
  if (!answersAnything(capabilities)) return undefined;
  return async (method, params, signal) => {
    checkOffered(capabilities, method, params);
    return (await peer.requestClient(method, params, signal)) as Record<string, unknown>;
  };
}

/** Whether the client answers any question. */
export function answersAnything(capabilities: ClientCapabilities): boolean {
  return Object.values(CAPABILITY).some((name) => isOffered(capabilities[name]));
}

/** Throws the error for a server whose question the client cannot answer. */
export function checkOffered(
  capabilities: ClientCapabilities,
  method: string,
  params: Record<string, unknown> | undefined,
): void {
  const offered = capabilities[CAPABILITY[method] ?? ''];
  if (!isOffered(offered)) {
    throw new RpcError(CODE.methodNotFound, `the agent whose call is in flight does not offer ${method}`);
  }
  if (method === 'elicitation/create' && params?.mode === 'url' && !isOffered(offered.url)) {
    const message = 'the agent whose call is in flight can show a form, but open no address';
    throw new RpcError(CODE.invalidParams, message);
  }
}

function isOffered(capability: unknown): capability is Record<string, unknown> {
  return typeof capability === 'object' && capability !== null;
}
