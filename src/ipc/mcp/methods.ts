import {
  promptDefinition,
  resourceDefinition,
  shownName,
  templateDefinition,
} from '../../fleet/definitions.js';
import type { McpResult, Patience, PromptEntry } from '../../fleet/fleet.js';
import type { RequestContext } from '../jsonrpc/incoming-request.js';
import { DEFERRED } from '../jsonrpc/incoming-requests.js';
import type { Params } from '../jsonrpc/params.js';
import { untilCancelled } from '../jsonrpc/until-cancelled.js';
import type { CallTarget } from './agent-surface.js';
import { pageOf } from './pages.js';
import { type McpSession, recordOf } from './session.js';

/** `raw`: the params as they came, for requests that are passed on. */
export type McpMethod = (
  session: McpSession,
  params: Params,
  context: RequestContext,
  raw: unknown,
) => Promise<unknown> | unknown;

/** MCP up to 2025-11-25, on the connection that also has `fleet/*`. */
export const MCP_METHODS: Readonly<Record<string, McpMethod>> = {
  initialize: (session, params, _context, raw) => {
    session.introduce((raw as { clientInfo?: unknown } | undefined)?.clientInfo);
    return session.initialize(params);
  },
  'notifications/initialized': (session) => session.initialized(),
  ping: () => ({}),

  'tools/list': (session, params, { signal }) => session.surface.list(params.optionalText('cursor'), signal),
  'tools/call': (session, params, context, raw) => {
    const target = session.surface.target(recordOf(raw));
    if (!(target instanceof Promise)) return callTool(session, params, context, target);
    target.then(
      (found) => {
        const answer = callTool(session, params, context, found);
        if (answer !== DEFERRED)
          void answer.then(
            (result) => context.answer(result),
            (error: unknown) => context.fail(error),
          );
      },
      (error: unknown) => context.fail(error),
    );
    return DEFERRED;
  },

  'prompts/list': async (session, params, { signal }) => {
    const cursor = params.optionalText('cursor');
    const asked = session.fleet.prompts(session.server, false, patienceOf(cursor));
    const { prompts } = await untilCancelled(signal, asked);
    const nameOf = (prompt: PromptEntry) => shownName(session.server, prompt);
    const { items, ...rest } = pageOf(prompts, nameOf, cursor);
    return { prompts: items.map((prompt) => promptDefinition(prompt, nameOf(prompt))), ...rest };
  },
  'prompts/get': (session, params, context, raw) => session.request('prompts/get', raw, params, context),

  'resources/list': async (session, params, { signal }) => {
    const cursor = params.optionalText('cursor');
    const asked = session.fleet.resources(session.server, false, patienceOf(cursor));
    const { resources } = await untilCancelled(signal, asked);
    const { items, ...rest } = pageOf(firstOfEach(resources, uriOf), uriOf, cursor);
    return { resources: items.map(resourceDefinition), ...rest };
  },
  'resources/templates/list': async (session, params, { signal }) => {
    const cursor = params.optionalText('cursor');
    const asked = session.fleet.resources(session.server, false, patienceOf(cursor));
    const { templates } = await untilCancelled(signal, asked);
    const { items, ...rest } = pageOf(firstOfEach(templates, templateOf), templateOf, cursor);
    return { resourceTemplates: items.map(templateDefinition), ...rest };
  },
  'resources/read': (session, params, context, raw) =>
    session.request('resources/read', raw, params, context),

  'resources/subscribe': (session, params, { signal }) =>
    untilCancelled(signal, session.subscribe(params.text('uri'))),
  'resources/unsubscribe': (session, params) => session.unsubscribe(params.text('uri')),

  'completion/complete': (session, params, context, raw) => session.complete(raw, params, context),
  'logging/setLevel': (session, params) => session.setLevel(params),
};

// only a wrong request gets an error; a failed call gets a result
function callTool(
  session: McpSession,
  params: Params,
  context: RequestContext,
  target: CallTarget,
): Promise<McpResult> | typeof DEFERRED {
  if (target.kind === 'answer') return target.answer(context.signal);
  const request = { server: session.server, method: 'tools/call', params: target.params } as const;
  const handle = session.fleet.forward(request, session.replySink(params, context, target.cut));
  context.onCancel((reason) => handle.cancel(reason));
  return DEFERRED;
}

/** An agent does not wait for a slow server: it gets `list_changed` later. Only the first page waits at all. */
function patienceOf(cursor: string | undefined): Patience {
  return cursor === undefined ? 'list_wait' : 'none';
}

const uriOf = ({ uri }: { uri: string }) => uri;
const templateOf = ({ uri_template }: { uri_template: string }) => uri_template;

/** Where two servers offer the same URI, the first one is read. */
function firstOfEach<T>(list: readonly T[], keyOf: (item: T) => string): T[] {
  const byKey = new Map<string, T>();
  for (const item of list) if (!byKey.has(keyOf(item))) byKey.set(keyOf(item), item);
  return [...byKey.values()];
}
