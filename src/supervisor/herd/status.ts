import type { ServerStatus } from '../../fleet/fleet.js';
import { type Clock, isoDateOf } from '../../shared/clock.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import type { PublicEntry } from '../catalog/public-names.js';
import { tokensOfTools } from '../catalog/tools-tokens.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ServerSnapshot } from '../server/server-snapshot.js';

export interface StatusSources {
  /** When the server came into its present state. */
  since: string;
  /** The agent it belongs to; null: shared. */
  agent: string | null;
  /** Only other views than the one that is asked have it. */
  isOther: true | undefined;
  /** For texts that may have words of the server. */
  redact(text: string): string;
  /** Of each process group, by its leader; null where the system does not tell. */
  memory: ReadonlyMap<number, number> | null;
  clock: Clock;
  /** How npx is run; undefined where the server has nothing to do with it. */
  runner: Pick<ServerStatus, 'runner' | 'package'> | undefined;
  /** The profile of the view that is asked. */
  lens: ProfileLens | undefined;
}

/** The status of a server: computed when asked, never stored. */
export function toStatus(server: ConfiguredServer, sources: StatusSources): ServerStatus {
  const { spec, latencies } = server;
  const lists = server.catalog.knownLists();
  const snapshot = server.snapshot();
  const { memory, redact, since, agent, isOther, clock, runner, lens } = sources;
  const tools = toolsOf(server, lens);
  return {
    name: spec.name,
    agent,
    ...(isOther && { other_view: true }),
    state: snapshot.state,
    detail: snapshot.detail,
    transport: spec.transport,
    lifecycle: spec.transport === 'stdio' ? spec.lifecycle : 'singleton',
    pids: snapshot.pids,
    incarnation: snapshot.incarnation,
    restarts: snapshot.restarts,
    next_retry_at: snapshot.nextRetryAt === undefined ? null : isoDateOf(clock, snapshot.nextRetryAt),
    last_error:
      snapshot.lastError === undefined
        ? null
        : {
            message: redact(snapshot.lastError.message),
            cause: snapshot.lastError.cause,
            ...(snapshot.lastError.why === undefined ? {} : { why: redact(snapshot.lastError.why) }),
            ...(snapshot.lastError.fix === undefined ? {} : { fix: redact(snapshot.lastError.fix) }),
            ...(snapshot.lastError.problems === undefined ? {} : { problems: snapshot.lastError.problems }),
            at: new Date(snapshot.failedAt ?? 0).toISOString(),
          },
    since: snapshot.since === undefined ? since : new Date(snapshot.since).toISOString(),
    in_flight: snapshot.inFlight,
    calls: server.calls,
    failures: server.failures,
    latency_ms: latencies.percentiles(),
    tools: tools.length,
    tools_tokens: tokensOfTools(tools),
    ...unacceptedOf(server),
    prompts: lists.prompts?.length ?? 0,
    resources: lists.resources?.length ?? 0,
    lists: listsOf(server, redact, clock),
    protocol_version: snapshot.opened?.protocolVersion ?? null,
    server_info: snapshot.opened?.serverInfo ?? null,
    rss_bytes: memoryOf(snapshot.pids, memory),
    ...nodesOf(snapshot),
    ...runner,
  };
}

/** The tools of a server as the view has them. */
function toolsOf(server: ConfiguredServer, lens: ProfileLens | undefined): PublicEntry[] {
  const { name: of } = server.spec;
  const known = server.catalog.knownLists().tools ?? [];
  return (lens?.tools(of, known) ?? known).map((definition) => {
    const name = String(definition.name);
    const alias = lens?.publicNameOf(of, name);
    return { server, name, definition, publicName: name, ...(alias === undefined ? {} : { alias }) };
  });
}

function nodesOf({ nodes, isElsewhere }: ServerSnapshot): Pick<ServerStatus, 'nodes' | 'elsewhere'> {
  if (nodes === undefined) return {};
  const shown = nodes.map(({ node, state, inFlight }) => ({ node, state, in_flight: inFlight }));
  return { nodes: shown, ...(isElsewhere && { elsewhere: true }) };
}

function unacceptedOf({ catalog, pinning }: ConfiguredServer): Pick<ServerStatus, 'unaccepted'> {
  const tools = catalog.unacceptedTools();
  return tools === 0 ? {} : { unaccepted: { tools, blocked: pinning?.policy === 'enforce' } };
}

function listsOf(
  { catalog }: ConfiguredServer,
  redact: (text: string) => string,
  clock: Clock,
): NonNullable<ServerStatus['lists']> {
  const statuses = [...catalog.listStates()].map(([list, { freshness, reason, nextTryAt }]) => {
    if (reason === undefined) return [list, { freshness }];
    const next = nextTryAt === undefined ? null : isoDateOf(clock, nextTryAt);
    return [list, { freshness, reason: redact(reason), next_try_at: next }];
  });
  return Object.fromEntries(statuses) as NonNullable<ServerStatus['lists']>;
}

/** Null where it cannot be measured; 0 where nothing runs. */
export function memoryOf(pids: readonly number[], memory: StatusSources['memory']): number | null {
  const known = pids.flatMap((pid) => memory?.get(pid) ?? []);
  if (memory === null || (pids.length > 0 && known.length === 0)) return null;
  return known.reduce((sum, bytes) => sum + bytes, 0);
}
