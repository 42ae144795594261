import { isAbsolute } from 'node:path';
import type { Closing } from '../../fleet/events.js';
import { TOPICS } from '../../fleet/events.js';
import type { CallContext, LocalFleet, ManyContext } from '../../fleet/fleet.js';
import type { Hello } from '../../fleet/hello.js';
import { toMetrics } from '../../fleet/metrics.js';
import { SEPARATORS } from '../../shared/mcp/separators.js';
import { SURFACE_MODES } from '../../shared/mcp/surface.js';
import { API_VERSION } from '../../shared/version.js';
import type { RequestContext } from '../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../jsonrpc/params.js';
import type { Peer } from '../jsonrpc/peer.js';
import { progressTo } from '../jsonrpc/progress.js';
import { untilCancelled } from '../jsonrpc/until-cancelled.js';
import type { McpSession } from '../mcp/session.js';
import { readArguments } from '../verbs/read-params.js';
import { type AnyVerb, fleetMethods, VERB_NAMES, VERBS, type VerbName } from '../verbs/verbs.js';
import type { ConnectionFleet } from './connection-fleet.js';
import type { EventSubscriptions } from './event-subscriptions.js';
import type { Lifecycle } from './lifecycle.js';

/** What `fleet/hello` says of the daemon. */
export interface Identity {
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
  /** The global config that it reads. */
  config_file?: string;
}

/** One client of the socket. */
export interface Connection {
  /** The name of the connection, which no other one has. */
  caller: string;
  fleet: LocalFleet;
  connectionFleet: Pick<
    ConnectionFleet,
    'agent' | 'profile' | 'warnings' | 'check' | 'folder' | 'separator' | 'surfaceMode' | 'use'
  >;
  peer: Peer;
  identity: Identity;
  /** Notes the name and version that the client gives. */
  introduce(client: unknown): void;
  subscriptions: EventSubscriptions;
  /** The MCP session of the connection. */
  mcp: Pick<McpSession, 'show' | 'hasTypedErrors'>;
  /** Of the daemon. */
  lifecycle: Pick<Lifecycle, 'why'>;
  /** Sends `fleet/closing` when the daemon ends; at once where it is ending already. */
  notifyOfClosing(): void;
  /** The daemon begins to end. Sends `fleet/closing`, and answers with the number of connections that got it. */
  closing(why: Closing): number;
  /** Called when the herd has stopped and the client has its report. */
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
    const profile = params.optionalText('profile');
    const separator = params.optionalChoice('separator', SEPARATORS);
    const surface = params.optionalChoice('surface', SURFACE_MODES);
    const folder = params.optionalText('folder');
    if (agent !== undefined && !isAbsolute(agent)) throw wrong("'agent' must be the full path of a file");
    if (folder !== undefined && !isAbsolute(folder)) throw wrong("'folder' must be a full path");
    // A daemon that ends opens no view. The client reads `closing`, and waits for the next daemon or starts it.
    const isEnding = () => lifecycle.why !== null;
    if (!isEnding()) {
      try {
        // both reject where there is no such server
        if (agent !== undefined || profile !== undefined)
          await untilCancelled(signal, connectionFleet.use({ agent, profile, server }));
        else if (server !== undefined) await untilCancelled(signal, connectionFleet.check(server));
      } catch (error) {
        // it may have begun to end while the file was read
        if (!isEnding() || signal.aborted) throw error;
      }
    }
    connectionFleet.separator = separator;
    connectionFleet.surfaceMode = surface;
    connectionFleet.folder = folder;
    mcp.show(server);
    mcp.hasTypedErrors = params.optionalFlag('typed_errors') === true;
    if (params.optionalFlag('closing_notice')) context.afterReply(connection.notifyOfClosing);
    return {
      daemon: { ...identity, closing: lifecycle.why },
      api_version: API_VERSION,
      agent: connectionFleet.agent,
      ...(connectionFleet.profile === null ? {} : { profile: connectionFleet.profile }),
      ...(connectionFleet.warnings.length === 0 ? {} : { warnings: connectionFleet.warnings }),
    } satisfies Hello;
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

  'fleet/shutdown': async ({ fleet, connectionFleet, peer, closing, shutDown }, params, context) => {
    const graceMs = params.optionalMs('grace_ms', 0);
    const successor = params.optionalWhole('successor');
    const why: Closing = successor === undefined ? { reason: 'shutdown' } : { reason: 'replaced', successor };
    // the fleet of a profile refuses below: the daemon must not begin to end before that
    const attached = connectionFleet.profile === null ? closing(why) : 0;
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
    const methods = fleetMethods(connection.fleet);
    if (context === 'call') return methods[name](...args, callContext(connection, params, request));
    const answer =
      context === 'many'
        ? methods[name](...args, manyContext(connection, params, request))
        : untilCancelled(request.signal, methods[name](...args));
    return field === undefined ? answer : answer.then((result) => ({ [field]: result }));
  };
}

/** Each result is also sent as progress. */
function manyContext(connection: Connection, params: Params, context: RequestContext): ManyContext {
  const { caller, separator, onProgress } = callContext(connection, params, context);
  let arrived = 0;
  const onResult: ManyContext['onResult'] =
    onProgress &&
    ((index, result, total) => {
      arrived += 1;
      onProgress({ progress: arrived, total, index, result });
    });
  return { caller, signal: context.signal, separator, onResult };
}

function callContext(
  { peer, caller, connectionFleet }: Connection,
  params: Params,
  context: RequestContext,
): CallContext {
  const onProgress = progressTo(peer, params, context);
  const { separator } = connectionFleet;
  // results of MCP are passed on unread; results of calls were converted before
  const onCancel: CallContext['onCancel'] = (cancel) => context.onCancel(cancel);
  return { caller, onCancel, separator, onProgress, acceptsRaw: true };
}
