import type { Fleet } from '../fleet/fleet.js';
import { encode } from '../ipc/jsonrpc/outgoing-requests.js';
import { Params } from '../ipc/jsonrpc/params.js';
import { RemoteError } from '../ipc/jsonrpc/remote-error.js';
import { RpcError } from '../ipc/jsonrpc/rpc-error.js';
import {
  broadcastParams,
  callParams,
  listParams,
  logParams,
  manyParams,
  pinParams,
  promptParams,
  registerParams,
  resourceParams,
} from '../ipc/server/read-params.js';

/**
 * A herd in this process as it would be at the other end of a socket: what cannot be meant is refused in the same words,
 * and nothing is shared with the caller, who may change later what it gave or was given.
 */
export function localFleet(herd: Fleet): Fleet {
  const asked: Partial<Fleet> = {
    call: async (params, context) => herd.call(read('fleet/call', params, callParams), context),
    callMany: async (params, context) => herd.callMany(read('fleet/call_many', params, manyParams), context),
    broadcast: async (params, context) =>
      herd.broadcast(read('fleet/broadcast', params, broadcastParams), context),
    prompt: async (params, context) => herd.prompt(read('fleet/prompt', params, promptParams), context),
    resource: async (params, context) =>
      herd.resource(read('fleet/resource', params, resourceParams), context),
    async tools(...params) {
      const { server, refresh } = readList('fleet/tools', params);
      return structuredClone(await herd.tools(server, refresh));
    },
    async prompts(...params) {
      const { server, refresh } = readList('fleet/prompts', params);
      return structuredClone(await herd.prompts(server, refresh));
    },
    async resources(...params) {
      const { server, refresh } = readList('fleet/resources', params);
      return structuredClone(await herd.resources(server, refresh));
    },
    status: async (servers) => structuredClone(await herd.status(servers)),
    inspect: async (server) => structuredClone(await herd.inspect(server)),
    pins: async (params = {}) => structuredClone(await herd.pins(read('fleet/pins', params, pinParams))),
    logs: async (params = {}) => herd.logs(read('fleet/logs', params, logParams)),
    async register(given, base) {
      const params = { ...given, _meta: base && { folder: base } };
      const { document, folder } = read('fleet/register', params, registerParams);
      return herd.register(document, folder);
    },
  };
  // each time anew: the herd may come to be another one
  return new Proxy(herd, { get: (_, name: keyof Fleet) => asked[name] ?? herd[name] });
}

function readList(method: string, [server, refresh]: Parameters<Fleet['tools']>) {
  return read(method, { server, refresh }, listParams);
}

/** A copy, as JSON has it. */
function read<T>(method: string, params: object, readParams: (params: Params) => T): T {
  const { params: copy } = JSON.parse(encode({ method, params })) as { params: unknown };
  try {
    return readParams(new Params(copy));
  } catch (error) {
    throw error instanceof RpcError ? new RemoteError(error) : error;
  }
}
