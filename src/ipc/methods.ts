import { API_VERSION } from '../version.js';
import type { RequestContext } from './answers.js';
import type { CallParams, Fleet } from './fleet.js';
import { type Params, wrong } from './params.js';
import type { Peer } from './peer.js';
import { type Subscriptions, TOPICS } from './subscriptions.js';
import { untilCancelled } from './until-cancelled.js';

/** Who answers: what `fleet/hello` says of the daemon. */
export interface Identity {
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
}

/** One client of the socket. */
export interface Connection {
  fleet: Fleet;
  peer: Peer;
  identity: Identity;
  subscriptions: Subscriptions;
  /** Called when the herd has stopped and the client that asked for it knows. */
  shutDown(): void;
}

export type FleetMethod = (
  connection: Connection,
  params: Params,
  context: RequestContext,
) => Promise<unknown> | unknown;

/** Every method of the socket. docs/PROTOCOL.md lists the same; a test compares them. */
export const METHODS: Readonly<Record<string, FleetMethod>> = {
  'fleet/hello': ({ identity }, params) => {
    params.optionalRecord('client');
    for (const view of ['agent', 'server']) {
      if (params.has(view))
        throw wrong(`'${view}' is not supported by this daemon: it shows the global herd`);
    }
    return { daemon: identity, api_version: API_VERSION, agent: null };
  },

  'fleet/status': ({ fleet }, params, { signal }) =>
    untilCancelled(signal, fleet.status(params.optionalTexts('servers'))),

  'fleet/start': order('start'),
  'fleet/stop': order('stop'),
  'fleet/restart': order('restart'),
  'fleet/reset': order('reset'),

  'fleet/tools': async ({ fleet }, params, { signal }) => {
    const list = fleet.tools(params.optionalText('server'), params.optionalFlag('refresh'));
    return { tools: await untilCancelled(signal, list) };
  },

  'fleet/call': ({ fleet, peer }, params, context) => {
    const token = params.progressToken();
    const tellProgress = (progress: Record<string, unknown>) => {
      // a server may go on about a call that is answered
      if (context.isOpen) peer.notify('notifications/progress', { ...progress, progressToken: token });
    };
    return fleet.call(callParams(params), {
      signal: context.signal,
      onProgress: token === undefined ? undefined : tellProgress,
    });
  },

  'fleet/subscribe': ({ subscriptions }, params) => {
    subscriptions.begin(params.choices('topics', TOPICS), params.optionalTexts('servers'));
    return { topics: subscriptions.topics };
  },

  'fleet/unsubscribe': ({ subscriptions }, params) => {
    subscriptions.end(params.has('topics') ? params.choices('topics', TOPICS) : undefined);
    return { topics: subscriptions.topics };
  },

  'fleet/inspect': ({ fleet }, params, { signal }) =>
    untilCancelled(signal, fleet.inspect(params.text('server'))),

  'fleet/reload': ({ fleet }, params, { signal }) =>
    untilCancelled(signal, fleet.reload(params.optionalFlag('dry_run'))),

  'fleet/shutdown': async ({ fleet, peer, shutDown }, params, context) => {
    const report = await fleet.shutdown(params.optionalMs('grace_ms', 0));
    context.afterReply(() => peer.flushed().then(shutDown));
    return report;
  },
};

function order(verb: 'start' | 'stop' | 'restart' | 'reset'): FleetMethod {
  return async ({ fleet }, params, { signal }) => {
    const done = fleet[verb](params.selection(), params.optionalFlag('wait'));
    return { servers: await untilCancelled(signal, done) };
  };
}

function callParams(params: Params): CallParams {
  return {
    server: params.text('server'),
    tool: params.text('tool'),
    arguments: params.optionalRecord('arguments'),
    timeout_ms: params.optionalMs('timeout_ms', 1),
    request_id: params.optionalText('request_id'),
  };
}
