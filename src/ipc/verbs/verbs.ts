import type { Fleet, ListName, Order } from '../../fleet/fleet.js';

/** The methods of `Fleet` that are requests on the socket. `subscribe` and `shutdown` concern the connection itself. */
export type VerbName = Exclude<keyof Fleet, 'subscribe' | 'shutdown'>;

/** Which context the last argument of a method is: of one call, of many, or none. */
type ContextOf<Name extends VerbName> =
  Parameters<Fleet[Name]> extends readonly [unknown, context?: infer Context]
    ? 'onResult' extends keyof NonNullable<Context>
      ? 'many'
      : 'signal' extends keyof NonNullable<Context>
        ? 'call'
        : undefined
    : undefined;

/** The arguments of a method without its context. */
export type VerbArguments<Name extends VerbName> =
  ContextOf<Name> extends undefined ? Parameters<Fleet[Name]> : [params: Parameters<Fleet[Name]>[0]];

/**
 * One method of `Fleet` on the socket. The names of params and results are those of docs/PROTOCOL.md. read-params.ts has
 * the other direction, which a client does not load.
 */
interface Verb<Args extends readonly unknown[]> {
  method: `fleet/${string}`;
  /**
   * It makes a connection an agent, which gets its own instances of the `per-agent` servers. A connection that only looks
   * at the herd needs none.
   */
  usesServers?: true;
  toParams(...args: Args): object;
  /** The field of the answer that holds the result; absent: the answer is the result. */
  field?: string;
}

/** A method whose last argument is a context says which. */
type VerbOf<Name extends VerbName> = Verb<VerbArguments<Name>> &
  (ContextOf<Name> extends undefined ? unknown : { context: ContextOf<Name> });

const order = (method: Order): VerbOf<'start'> => ({
  method: `fleet/${method}`,
  toParams: (selection, wait) => ({ ...selection, wait }),
  field: 'servers',
});

const list = (method: ListName): VerbOf<'tools'> => ({
  method: `fleet/${method}`,
  usesServers: true,
  toParams: (server, refresh) => ({ server, refresh }),
});

/**
 * Every verb of the fleet. The methods of the socket, the client of the socket, the client in one process and the answer
 * to "does this make a connection an agent" are made from this table.
 */
export const VERBS: { readonly [Name in VerbName]: VerbOf<Name> } = {
  status: {
    method: 'fleet/status',
    toParams: (servers) => ({ servers }),
  },
  history: {
    method: 'fleet/history',
    toParams: (params = {}) => params,
  },
  agents: {
    method: 'fleet/agents',
    toParams: () => ({}),
    field: 'agents',
  },
  audit: {
    method: 'fleet/audit',
    toParams: (params = {}) => params,
  },
  start: order('start'),
  stop: order('stop'),
  restart: order('restart'),
  reset: order('reset'),
  tools: list('tools'),
  prompts: list('prompts'),
  resources: list('resources'),
  search: {
    method: 'fleet/search',
    usesServers: true,
    toParams: (params) => params,
  },
  prompt: {
    method: 'fleet/prompt',
    usesServers: true,
    toParams: (params) => params,
    context: 'call',
  },
  resource: {
    method: 'fleet/resource',
    usesServers: true,
    toParams: (params) => params,
    context: 'call',
  },
  request: {
    method: 'fleet/request',
    usesServers: true,
    toParams: (params) => params,
    context: 'call',
  },
  call: {
    method: 'fleet/call',
    usesServers: true,
    toParams: (params) => params,
    context: 'call',
  },
  callMany: {
    method: 'fleet/call_many',
    usesServers: true,
    toParams: (params) => params,
    field: 'results',
    context: 'many',
  },
  broadcast: {
    method: 'fleet/broadcast',
    usesServers: true,
    toParams: (params) => params,
    field: 'results',
    context: 'many',
  },
  inspect: {
    method: 'fleet/inspect',
    toParams: (server) => ({ server }),
  },
  profiles: {
    method: 'fleet/profiles',
    toParams: () => ({}),
    field: 'profiles',
  },
  pins: {
    method: 'fleet/pins',
    toParams: (params = {}) => params,
  },
  outdated: {
    method: 'fleet/outdated',
    toParams: (servers) => ({ servers }),
  },
  update: {
    method: 'fleet/update',
    toParams: (selection, dryRun) => ({ ...selection, dry_run: dryRun }),
  },
  authorize: {
    method: 'fleet/authorize',
    toParams: (params) => params,
  },
  logout: {
    method: 'fleet/logout',
    toParams: (server) => ({ server }),
  },
  reload: {
    method: 'fleet/reload',
    toParams: (dryRun) => ({ dry_run: dryRun }),
  },
  logs: {
    method: 'fleet/logs',
    toParams: (params = {}) => params,
    field: 'entries',
  },
  register: {
    method: 'fleet/register',
    toParams: (document, folder) => ({ ...document, _meta: folder && { folder } }),
    field: 'servers',
  },
  unregister: {
    method: 'fleet/unregister',
    toParams: (name) => ({ name }),
    field: 'servers',
  },
  cluster: {
    method: 'fleet/cluster',
    toParams: () => ({}),
  },
  clusterDrain: {
    method: 'fleet/cluster_drain',
    toParams: () => ({}),
  },
  clusterUndrain: {
    method: 'fleet/cluster_undrain',
    toParams: () => ({}),
  },
  ui: {
    method: 'fleet/ui',
    toParams: () => ({}),
  },
};

export const VERB_NAMES = Object.keys(VERBS) as VerbName[];

/** A verb for code that treats all of them alike. */
export type AnyVerb = Verb<unknown[]> & { context?: 'call' | 'many' };
export type AnyFleetMethod = (...args: unknown[]) => Promise<unknown>;

/** The methods of a fleet, for code that treats all of them alike. Call them on the result: a method may need its `this`. */
export function fleetMethods(fleet: Pick<Fleet, VerbName>): Record<VerbName, AnyFleetMethod> {
  return fleet as Record<VerbName, AnyFleetMethod>;
}

/** Makes the methods of a fleet from the table. */
export function fromVerbs(make: (verb: AnyVerb, name: VerbName) => AnyFleetMethod): Pick<Fleet, VerbName> {
  const methods = VERB_NAMES.map((name) => [name, make(VERBS[name] as unknown as AnyVerb, name)]);
  return Object.fromEntries(methods) as Pick<Fleet, VerbName>;
}
