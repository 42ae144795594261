import type { Fleet } from '../fleet/fleet.js';
import { encode } from '../ipc/jsonrpc/outgoing-requests.js';
import { Params } from '../ipc/jsonrpc/params.js';
import { RemoteError } from '../ipc/jsonrpc/remote-error.js';
import { RpcError } from '../ipc/jsonrpc/rpc-error.js';
import { readArguments } from '../ipc/verbs/read-params.js';
import { type AnyVerb, fleetMethods, fromVerbs, type VerbName } from '../ipc/verbs/verbs.js';

/**
 * A herd in this process that behaves like one at the other end of a socket: it refuses wrong arguments with the same
 * errors, and it copies arguments and results, so a script may change its objects later.
 */
export function localFleet(fleet: Fleet): Fleet {
  const methods = fleetMethods(fleet);
  return {
    ...fromVerbs((verb, name) => async (...args) => {
      const [params, context] = args;
      if (verb.context !== undefined) return methods[name](...copyArguments(verb, name, [params]), context);
      return structuredClone(await methods[name](...copyArguments(verb, name, args)));
    }),
    subscribe: (topics, listen) => fleet.subscribe(topics, listen),
    shutdown: (graceMs) => fleet.shutdown(graceMs),
  };
}

/** A checked copy of the arguments, as the socket would carry them. */
function copyArguments({ method, toParams }: AnyVerb, name: VerbName, args: readonly unknown[]): unknown[] {
  const { params } = JSON.parse(encode({ method, params: toParams(...args) })) as { params: unknown };
  try {
    return readArguments(name, new Params(params));
  } catch (error) {
    throw error instanceof RpcError ? new RemoteError(error) : error;
  }
}
