import { isAbsolute } from 'node:path';
import type { Closing } from '../../fleet/closing.js';
import type { CallContext, LocalFleet, ManyContext } from '../../fleet/fleet.js';
import { toMetrics } from '../../fleet/metrics.js';
import { API_VERSION } from '../../shared/version.js';
import type { RequestContext } from '../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../jsonrpc/params.js';
import type { Peer } from '../jsonrpc/peer.js';
import { untilCancelled } from '../jsonrpc/until-cancelled.js';
import type { McpSession } from '../mcp/session.js';
import { readArguments } from '../verbs/read-params.js';
import { type AnyVerb, VERB_NAMES, VERBS, type VerbName } from '../verbs/verbs.js';
import type { ConnectionFleet } from './connection-fleet.js';
import { type EventSubscriptions, TOPICS } from './event-subscriptions.js';
import type { Lifecycle } from './lifecycle.js';

/** Who answers: what `fleet/hello` says of the daemon. */
export interface Identity {
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
}

/** One client of the socket. */
export interface Connection {
  /** On whose behalf it calls: no other connection has this name. */
  caller: string;
  fleet: LocalFleet;
  /** Whose herd that is. */
  connectionFleet: Pick<ConnectionFleet, 'agent' | 'check' | 'look'>;
  peer: Peer;
  identity: Identity;
  /** Takes down who the client says it is. */
  introduce(client: unknown): void;
  subscriptions: EventSubscriptions;
  /** The same connection as an MCP client's. */
  mcp: Pick<McpSession, 'show'>;
  /** The daemon's. */
  lifecycle: Pick<Lifecycle, 'why'>;
  /** It wants to hear why the daemon ends; said at once where the daemon is ending already. */
  hearClosing(): void;
  /** The daemon begins to end. Tells the connections that want to hear why; answers with their number. */
  closing(why: Closing): number;
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
  ...Object.fromEntries(VERB_NAMES.map((name) => [VERBS[name].method, methodOf(name)])),

  'fleet/hello': async (connection, params, context) => {
    const { signal } = context;
    const { identity, connectionFleet, lifecycle, mcp } = connection;
    connection.introduce(params.optionalRecord('client'));
    const agent = params.optionalText('agent');
    const server = params.optionalText('server');
    if (agent !== undefined && !isAbsolute(agent)) throw wrong("'agent' must be the full path of a file");
    // A daemon that ends opens no view. The client reads `closing`, and waits for the next daemon or starts it.
    const isEnding = () => lifecycle.why !== null;
    if (!isEnding()) {
      try {
        // both reject where there is no such server
        if (agent !== undefined) await untilCancelled(signal, connectionFleet.look(agent, server));
        else if (server !== undefined) await untilCancelled(signal, connectionFleet.check(server));
      } catch (error) {
        // it may have begun to end while the file was read
        if (!isEnding() || signal.aborted) throw error;
      }
    }
    mcp.show(server);
    if (params.optionalFlag('closing_notice')) context.afterReply(connection.hearClosing);
    return {
      daemon: { ...identity, closing: lifecycle.why },
      api_version: API_VERSION,
      agent: connectionFleet.agent,
    };
  },

  'fleet/subscribe': ({ subscriptions }, params) => {
    subscriptions.begin(params.choices('topics', TOPICS), params.optionalTexts('servers'));
    return { topics: subscriptions.topics };
  },

  'fleet/unsubscribe': ({ subscriptions }, params) => {
    subscriptions.end(params.has('topics') ? params.choices('topics', TOPICS) : undefined);
    return { topics: subscriptions.topics };
  },

  'fleet/metrics': async ({ fleet }, _params, { signal }) =>
    toMetrics(await untilCancelled(signal, fleet.status())),

  'fleet/shutdown': async ({ fleet, peer, closing, shutDown }, params, context) => {
    const graceMs = params.optionalMs('grace_ms', 0);
    const successor = params.optionalWhole('successor');
    const attached = closing(
      successor === undefined ? { reason: 'shutdown' } : { reason: 'replaced', successor },
    );
    const report = await fleet.shutdown(graceMs);
    context.afterReply(() => peer.flushed().then(shutDown));
    return { ...report, attached };
  },
};

/** Reads the params, asks the fleet of the connection, and puts the result into its field of the answer. */
function methodOf(name: VerbName): FleetMethod {
  const { field, context } = VERBS[name] as unknown as AnyVerb;
  return (connection, params, request) => {
    const args = readArguments(name, params);
    const ask = connection.fleet[name] as (...args: unknown[]) => Promise<unknown>;
    if (context === 'call') return ask(...args, callContext(connection, params, request));
    const answer =
      context === 'many'
        ? ask(...args, manyContext(connection, params, request))
        : untilCancelled(request.signal, ask(...args));
    return field === undefined ? answer : answer.then((result) => ({ [field]: result }));
  };
}

/** Results that come one by one are told as progress. */
function manyContext(connection: Connection, params: Params, context: RequestContext): ManyContext {
  const { caller, signal, onProgress } = callContext(connection, params, context);
  let told = 0;
  const onResult: ManyContext['onResult'] =
    onProgress &&
    ((index, result, total) => {
      told += 1;
      onProgress({ progress: told, total, index, result });
    });
  return { caller, signal, onResult };
}

function callContext({ peer, caller }: Connection, params: Params, context: RequestContext): CallContext {
  const token = params.progressToken();
  const tellProgress = (progress: Record<string, unknown>) => {
    // a server may go on about a call that is answered
    if (context.isOpen) peer.notify('notifications/progress', { ...progress, progressToken: token });
  };
  const onProgress = token === undefined ? undefined : tellProgress;
  // a result of MCP is only handed on; those of calls are converted before
  return { caller, signal: context.signal, onProgress, acceptsRaw: true };
}
