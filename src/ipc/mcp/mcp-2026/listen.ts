import type { McpResult } from '../../../fleet/fleet.js';
import { onAbort } from '../../../shared/async.js';
import { SUBSCRIPTION_ID_KEY } from '../../../shared/mcp-names.js';
import type { RequestContext } from '../../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../../jsonrpc/params.js';
import { type ListName, onListChanges } from '../list-changes.js';
import type { McpSession } from '../session.js';

const LISTS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

/**
 * Tells of what the client wants to hear until it cancels the request, or leaves. What it gets is said first; a resource
 * of which nobody tells is not in it.
 */
export async function listen(
  session: McpSession,
  params: Params,
  context: RequestContext,
): Promise<McpResult> {
  const filter = readFilter(params);
  context.stand();
  const meta = { [SUBSCRIPTION_ID_KEY]: JSON.parse(context.id ?? 'null') as unknown };
  const tell = (method: string, told: Record<string, unknown> = {}) =>
    session.notify(method, { ...told, _meta: { ...(told._meta as object | undefined), ...meta } });
  const ends: (() => void)[] = [];
  // what changes before it is said what is told; of each resource the last word counts
  const early = new Map<unknown, Record<string, unknown>>();
  let hear = (told: Record<string, unknown>): void => void early.set(told.uri, told);
  try {
    const uris = await watchAll(session, filter.uris, ends, (told) => hear(told));
    if (!context.signal.aborted) {
      const honoured = {
        ...Object.fromEntries(filter.lists.map((list) => [LISTS[list], true])),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      };
      tell('notifications/subscriptions/acknowledged', { notifications: honoured });
      hear = (told) => tell('notifications/resources/updated', told);
      for (const told of early.values()) hear(told);
      if (Object.keys(honoured).length > 0) {
        ends.push(beginLists(session, filter.lists, (list) => tell(`notifications/${list}/list_changed`)));
        await new Promise<void>((resolve) => onAbort(context.signal, resolve));
      }
    }
  } finally {
    for (const end of ends) end();
  }
  return { _meta: meta };
}

function readFilter(params: Params): { lists: ListName[]; uris: string[] } {
  const filter = params.optionalRecord('notifications');
  if (filter === undefined) throw wrong("'notifications' is missing: what is to be told");
  const lists = (Object.keys(LISTS) as ListName[]).filter((list) => {
    const wanted = filter[LISTS[list]];
    if (wanted !== undefined && typeof wanted !== 'boolean')
      throw wrong(`'${LISTS[list]}' must be true or false`);
    return wanted === true;
  });
  const uris = filter.resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    throw wrong("'resourceSubscriptions' must be a list of strings");
  }
  return { lists, uris: [...new Set<string>(uris)] };
}

/** Those that could be had. */
async function watchAll(
  session: McpSession,
  uris: readonly string[],
  ends: (() => void)[],
  tell: (told: Record<string, unknown>) => void,
): Promise<string[]> {
  const { fleet, server } = session;
  const begun = await Promise.allSettled(uris.map((uri) => fleet.watch({ uri, server }, tell)));
  return uris.filter((_, at) => {
    const one = begun[at];
    if (one?.status === 'fulfilled') ends.push(one.value);
    return one?.status === 'fulfilled';
  });
}

function beginLists(
  session: McpSession,
  lists: readonly ListName[],
  tell: (list: ListName) => void,
): () => void {
  const { fleet, clock, isShown } = session;
  return onListChanges({ fleet, clock, isShown, notify: (list) => lists.includes(list) && tell(list) });
}
