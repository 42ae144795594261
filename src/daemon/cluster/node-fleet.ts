import type { LocalFleet } from '../../fleet/fleet.js';
import type { FleetProvider } from '../../ipc/server/fleet-provider.js';
import { fromVerbs } from '../../ipc/verbs/verbs.js';
import { MCPError, ServerNotFoundError, ServerUnavailableError } from '../../shared/call-errors.js';
import { DEFAULT_SURFACE } from '../../shared/mcp/surface.js';

export interface NodeFleetOptions {
  /** The global herd. */
  fleet: LocalFleet;
  /** What this daemon has logged of a server: not what it would ask other nodes for. */
  ownLogs: LocalFleet['logs'];
  /** The name of this node. */
  node: string;
  /** Whether other nodes may use the server. */
  isShared(server: string): boolean;
  /** No more calls of other nodes are taken. */
  isDraining(): boolean;
}

/** The methods of the socket that another node may call, besides MCP. */
export const NODE_METHODS: ReadonlySet<string> = new Set(['fleet/hello', 'fleet/logs']);

/**
 * The herd as other nodes of the cluster see it: MCP and the log of each server that is shared, and nothing else. Each request
 * names its server. A call is never passed on to a third node: only replicas of this daemon take it.
 */
export function nodeFleets(options: NodeFleetOptions): FleetProvider {
  const fleet = nodeFleet(options);
  const view = {
    fleetForUse: () => fleet,
    fleetForReading: () => fleet,
    agent: null,
    profile: null,
    warnings: [],
    surface: DEFAULT_SURFACE,
    check: async (server: string) => check(options, server),
    close: () => undefined,
  };
  return {
    global: (_, profile) => {
      if (profile === undefined) return view;
      throw beyond('profiles');
    },
    ofAgent: () => Promise.reject(beyond('agent files')),
  };
}

function nodeFleet(options: NodeFleetOptions): LocalFleet {
  const { fleet, isShared } = options;
  const refused = (server: string | undefined): MCPError | undefined => {
    try {
      check(options, server);
      return undefined;
    } catch (error) {
      return error as MCPError;
    }
  };
  const own = { ownOnly: true } as const;
  return {
    ...fromVerbs((_, name) => () => Promise.reject(beyond(name))),
    request: async (params, context) => {
      check(options, params.server);
      return fleet.request({ ...params, ...own }, context);
    },
    forward: (params, sink) => {
      const error = refused(params.server);
      if (error === undefined) return fleet.forward({ ...params, ...own }, sink);
      sink.settle({ ok: false, error });
      return { cancel: () => undefined };
    },
    watch: async (params, listen) => {
      check(options, params.server);
      return fleet.watch({ ...params, ...own }, listen);
    },
    tools: async (server, ...asked) => {
      check(options, server);
      return fleet.tools(server, ...asked);
    },
    prompts: async (server, ...asked) => {
      check(options, server);
      return fleet.prompts(server, ...asked);
    },
    resources: async (server, ...asked) => {
      check(options, server);
      return fleet.resources(server, ...asked);
    },
    logs: async (params) => {
      check(options, params?.server);
      return options.ownLogs(params);
    },
    instructions: (params) => (refused(params.server) === undefined ? fleet.instructions(params) : undefined),
    toolsTokens: (server) => (refused(server) === undefined ? fleet.toolsTokens(server) : 0),
    subscribe: (topics, listen, levelFor) => {
      const wanted = topics.filter((topic) => topic !== 'call');
      const level = levelFor && ((server: string) => (isShared(server) ? levelFor(server) : undefined));
      return fleet.subscribe(
        wanted,
        (event) => {
          // what other nodes said would go round for ever between two that listen to each other
          if (isShared(event.server) && !('node' in event)) listen(event);
        },
        level,
      );
    },
    keptText: async () => undefined,
    prepareSearch: () => undefined,
    shutdown: () => Promise.reject(beyond('shutdown')),
  };
}

/** Throws where another node may not use the server now. */
function check({ node, isShared, isDraining }: NodeFleetOptions, server: string | undefined): void {
  if (server === undefined)
    throw new MCPError('the request names no server', { fix: "say which one in 'fleet/hello'", sent: false });
  if (!isShared(server)) {
    const fix = `add it to 'share' of 'cluster' in the config of ${node}`;
    throw new ServerNotFoundError(`the node ${node} shares no server called '${server}'`, {
      fix,
      sent: false,
    });
  }
  if (isDraining()) {
    const fix = `call it on another node, or wait for "toolherd cluster undrain" on ${node}`;
    const details = { sent: false, retryable: true, why: 'it takes no new calls of other nodes', fix };
    throw new ServerUnavailableError(`${server}: the node ${node} is being drained`, details);
  }
}

function beyond(what: string): MCPError {
  return new MCPError(`other nodes of the cluster cannot use ${what}`, {
    why: 'a node shares its servers, and nothing else',
    fix: 'ask on that node itself',
    sent: false,
  });
}
