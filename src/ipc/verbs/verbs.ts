import type { Fleet } from '../../fleet/fleet.js';

/** The methods of `Fleet` that are requests on the socket. `subscribe` and `shutdown` concern the connection itself. */
export type VerbName = Exclude<keyof Fleet, 'subscribe' | 'shutdown'>;

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
  acts: boolean;
  toParams(...args: Args): object;
  /** The field of the answer that holds the result; absent: the answer is the result. */
  field?: string;
  /** Its last argument is a context: of one call, or of many. */
  context?: 'call' | 'many';
}

export type VerbArguments<Name extends VerbName> =
  Parameters<Fleet[Name]> extends readonly [infer Params, context?: unknown]
    ? Name extends 'prompt' | 'resource' | 'request' | 'call' | 'callMany' | 'broadcast'
      ? [Params]
      : Parameters<Fleet[Name]>
    : Parameters<Fleet[Name]>;

const order = (method: 'start' | 'stop' | 'restart' | 'reset'): Verb<VerbArguments<'start'>> => ({
  method: `fleet/${method}`,
  acts: false,
  toParams: (selection, wait) => ({ ...selection, wait }),
  field: 'servers',
});

const list = (method: 'tools' | 'prompts' | 'resources'): Verb<VerbArguments<'tools'>> => ({
  method: `fleet/${method}`,
  acts: true,
  toParams: (server, refresh) => ({ server, refresh }),
});

/**
 * Every verb of the fleet. The methods of the socket, the client of the socket, the client in one process and the answer
 * to "does this make a connection an agent" are made from this table.
 */
export const VERBS: { readonly [Name in VerbName]: Verb<VerbArguments<Name>> } = {
  status: {
    method: 'fleet/status',
    acts: false,
    toParams: (servers) => ({ servers }),
  },
  start: order('start'),
  stop: order('stop'),
  restart: order('restart'),
  reset: order('reset'),
  tools: list('tools'),
  prompts: list('prompts'),
  resources: list('resources'),
  prompt: {
    method: 'fleet/prompt',
    acts: true,
    toParams: (params) => params,
    context: 'call',
  },
  resource: {
    method: 'fleet/resource',
    acts: true,
    toParams: (params) => params,
    context: 'call',
  },
  request: {
    method: 'fleet/request',
    acts: true,
    toParams: (params) => params,
    context: 'call',
  },
  call: {
    method: 'fleet/call',
    acts: true,
    toParams: (params) => params,
    context: 'call',
  },
  callMany: {
    method: 'fleet/call_many',
    acts: true,
    toParams: (params) => params,
    field: 'results',
    context: 'many',
  },
  broadcast: {
    method: 'fleet/broadcast',
    acts: true,
    toParams: (params) => params,
    field: 'results',
    context: 'many',
  },
  inspect: {
    method: 'fleet/inspect',
    acts: false,
    toParams: (server) => ({ server }),
  },
  pins: {
    method: 'fleet/pins',
    acts: false,
    toParams: (params = {}) => params,
  },
  authorize: {
    method: 'fleet/authorize',
    acts: false,
    toParams: (params) => params,
  },
  logout: {
    method: 'fleet/logout',
    acts: false,
    toParams: (server) => ({ server }),
  },
  reload: {
    method: 'fleet/reload',
    acts: false,
    toParams: (dryRun) => ({ dry_run: dryRun }),
  },
  logs: {
    method: 'fleet/logs',
    acts: false,
    toParams: (params = {}) => params,
    field: 'entries',
  },
  register: {
    method: 'fleet/register',
    acts: false,
    toParams: (document, folder) => ({ ...document, _meta: folder && { folder } }),
    field: 'servers',
  },
  unregister: {
    method: 'fleet/unregister',
    acts: false,
    toParams: (name) => ({ name }),
    field: 'servers',
  },
};

export const VERB_NAMES = Object.keys(VERBS) as VerbName[];

/** A verb for code that treats all of them alike. */
export type AnyVerb = Omit<Verb<unknown[]>, 'toParams'> & { toParams(...args: unknown[]): object };
export type AnyFleetMethod = (...args: unknown[]) => Promise<unknown>;

/** Makes the methods of a fleet from the table. */
export function fromVerbs(make: (verb: AnyVerb, name: VerbName) => AnyFleetMethod): Pick<Fleet, VerbName> {
  const methods = VERB_NAMES.map((name) => [name, make(VERBS[name] as unknown as AnyVerb, name)]);
  return Object.fromEntries(methods) as Pick<Fleet, VerbName>;
}
