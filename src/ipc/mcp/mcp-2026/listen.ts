import type { ListName, McpResult } from '../../../fleet/fleet.js';
import { onAbort } from '../../../shared/async.js';
import { RESOURCE_UPDATED, SUBSCRIPTION_ID_KEY } from '../../../shared/mcp/mcp-names.js';
import type { RequestContext } from '../../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../../jsonrpc/params.js';
import { onListChanges } from '../notifications.js';
import type { McpSession } from '../session.js';

const LISTS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

/**
 * Sends the notifications that the client asked for until it cancels the request or leaves. The acknowledgement comes
 * first and lists what the client will get; a resource whose server does not notify is not in it.
 */
export async function listen(
  session: McpSession,
  params: Params,
  context: RequestContext,
): Promise<McpResult> {
  const filter = readFilter(params);
  context.markEndless();
  const meta = { [SUBSCRIPTION_ID_KEY]: JSON.parse(context.id ?? 'null') as unknown };
  const notify = (method: string, params: Record<string, unknown> = {}) =>
    session.notify(method, { ...params, _meta: { ...(params._meta as object | undefined), ...meta } });
  const ends: (() => void)[] = [];
  // changes before the acknowledgement, the last one of each resource
  const early = new Map<unknown, Record<string, unknown>>();
  let onUpdate = (update: Record<string, unknown>): void => void early.set(update.uri, update);
  try {
    const uris = await watchAll(session, filter.uris, ends, (update) => onUpdate(update));
    if (!context.signal.aborted) {
      const acknowledged = {
        ...Object.fromEntries(filter.lists.map((list) => [LISTS[list], true])),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      };
      notify('notifications/subscriptions/acknowledged', { notifications: acknowledged });
      onUpdate = (update) => notify(RESOURCE_UPDATED, update);
      for (const update of early.values()) onUpdate(update);
      if (Object.keys(acknowledged).length > 0) {
        ends.push(beginLists(session, filter.lists, (list) => notify(`notifications/${list}/list_changed`)));
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
  if (filter === undefined) throw wrong("'notifications' is missing: what to notify of");
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

/** Watches each resource. Answers with those whose server notifies. */
async function watchAll(
  session: McpSession,
  uris: readonly string[],
  ends: (() => void)[],
  onUpdate: (update: Record<string, unknown>) => void,
): Promise<string[]> {
  const { fleet, server } = session;
  const begun = await Promise.allSettled(uris.map((uri) => fleet.watch({ uri, server }, onUpdate)));
  return uris.filter((_, at) => {
    const one = begun[at];
    if (one?.status === 'fulfilled') ends.push(one.value);
    return one?.status === 'fulfilled';
  });
}

function beginLists(
  session: McpSession,
  lists: readonly ListName[],
  notify: (list: ListName) => void,
): () => void {
  const { fleet, clock, isShown } = session;
  const isFollowed = (list: ListName) => lists.includes(list) && session.isFollowed(list);
  return onListChanges({ fleet, clock, isShown, isFollowed, notify });
}
