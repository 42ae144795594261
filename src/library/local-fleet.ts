import type { Fleet } from '../fleet/fleet.js';
import { encode } from '../ipc/jsonrpc/outgoing-requests.js';
import { Params } from '../ipc/jsonrpc/params.js';
import { RemoteError } from '../ipc/jsonrpc/remote-error.js';
import { RpcError } from '../ipc/jsonrpc/rpc-error.js';
import { type AnyVerb, fromVerbs } from '../ipc/verbs/verbs.js';

/**
 * A herd in this process, as it would be at the other end of a socket: wrong arguments are refused in the same words, and
 * nothing is shared with the caller, who may later change what it gave or was given. `fleet` is asked for each call: a
 * connection's fleet may change.
 */
export function localFleet(fleet: Fleet): Fleet {
  return {
    ...fromVerbs((verb, name) => async (...args) => {
      const [params, context] = args;
      const ask = fleet[name] as (...args: unknown[]) => Promise<unknown>;
      if (verb.context !== undefined) return ask(...read(verb, [params]), context);
      return structuredClone(await ask(...read(verb, args)));
    }),
    subscribe: (topics, listen) => fleet.subscribe(topics, listen),
    shutdown: (graceMs) => fleet.shutdown(graceMs),
  };
}

/** A copy of the arguments, as the socket would carry them. */
function read({ method, toParams, readArgs }: AnyVerb, args: readonly unknown[]): unknown[] {
  const { params } = JSON.parse(encode({ method, params: toParams(...args) })) as { params: unknown };
  try {
    return readArgs(new Params(params));
  } catch (error) {
    throw error instanceof RpcError ? new RemoteError(error) : error;
  }
}
