import type { SurfaceMode } from '../shared/mcp/surface.js';
import type { ClusterSummary, ServerNode } from './cluster.js';
import type { Closing } from './events.js';
import type { ConfigProblem } from './results.js';

export type ServerState = 'created' | 'connecting' | 'connected' | 'error' | 'disconnected';

/** The state of the keeper, beside the state of the incarnation. */
export type Detail =
  | 'idle'
  | 'running'
  | 'waiting'
  | 'quarantined'
  | 'stopped'
  | 'disabled'
  | 'needs_auth'
  | 'not_allowed'
  | 'misconfigured';

export interface LastError {
  message: string;
  cause: string;
  /** The cause; lines after the first are output of the server. */
  why?: string;
  fix?: string;
  /** Of a server that is misconfigured: each problem of its entry. */
  problems?: readonly ConfigProblem[];
  at: string;
}

/** The lists whose entries are called by name. */
export type NamedList = 'tools' | 'prompts';

/** The lists of which a server can say that they have changed. Resources and their templates have one notification. */
export type ListName = NamedList | 'resources';

export type ListKey = ListName | 'templates';

/**
 * `unknown`: never read. `cached`: known from an earlier daemon, not read by this one. `fresh`: the last answer of the
 * server. `stale`: an earlier answer; the list has changed or expired since, a refresh has not arrived, or the last
 * reading failed. `failed`: never read, and the last reading failed.
 */
export type Freshness = 'unknown' | 'cached' | 'fresh' | 'stale' | 'failed';

/** How well one list of a server is known. */
export interface ListStatus {
  freshness: Freshness;
  /** Why the last reading failed. Absent where it did not. */
  reason?: string;
  /** When a reading that failed is tried again; ISO 8601; null: when the server is started again. Only with `reason`. */
  next_try_at?: string | null;
}

export interface ServerStatus {
  name: string;
  agent: string | null;
  /** Another herd has it: state, processes, restarts and errors are those that its daemon tells. Absent for own servers. */
  herd?: string;
  /** Of the connection to another herd: how many of its servers are here. */
  herd_servers?: number;
  /** Other nodes of the cluster that offer it. Absent where none could. */
  nodes?: ServerNode[];
  /** Only other nodes of the cluster run it, and their daemons take the orders. Its state is the best of theirs. */
  elsewhere?: true;
  /** Another view has it: orders with its name reach it, calls do not. */
  other_view?: true;
  /** Of the newest incarnation; `created` if there was none. */
  state: ServerState;
  detail: Detail;
  transport: string;
  lifecycle: 'singleton' | 'transient';
  pids: number[];
  incarnation: number;
  /** Since the daemon started. */
  restarts: number;
  /** ISO 8601; null when there is no next try. */
  next_retry_at: string | null;
  last_error: LastError | null;
  /** When it came into this state; ISO 8601. */
  since: string;
  in_flight: number;
  calls: number;
  failures: number;
  latency_ms: { p50: number | null; p99: number | null };
  tools: number;
  /** What the definitions of its tools cost an agent that lists them: about four characters a token. Absent in the answer of an older daemon. */
  tools_tokens?: number;
  /** How many of the tools differ from their pins, and whether they are blocked. Absent where none does. */
  unaccepted?: { tools: number; blocked: boolean };
  prompts: number;
  resources: number;
  /** Of each list that its config wants. Absent in the answer of an older daemon. */
  lists?: Partial<Record<ListKey, ListStatus>>;
  protocol_version: string | null;
  server_info: Record<string, unknown> | null;
  /** Of the process groups; null where the system does not tell. */
  rss_bytes: number | null;
  /** Of an entry with npx: `direct`, or `plain: ` and why npx itself is started. Absent for any other. */
  runner?: string;
  /** Of one that runs direct, where the version is known. */
  package?: { name: string; requested: string; version: string };
}

export interface DaemonStatus {
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
  /** Why it is ending; null while it serves. Absent in the answer of an older daemon. */
  closing?: Closing | null;
  socket: string;
  config_file: string;
  /** The last problem with a changed config, which then was not applied. */
  config_error: string | null;
  /** HTTP on a port: where it is, or why it is not; null where the config asks for none. */
  http?: { url: string | null; error: string | null } | null;
  /** The file with a record of every call, and how many records could not be written. */
  audit?: { file: string; lost: number };
  /**
   * What all servers use together and may use, in bytes, looked at once a second; null where `daemon.max_rss` is not
   * set. `problem`: they use more, and none is idle that could be stopped.
   */
  memory?: { max_rss: number; rss_bytes: number | null; problem: string | null } | null;
  /** Whether agents of this view list all tools or search them: `daemon.surface`, or that of the profile. Absent in the answer of an older daemon. */
  surface?: { mode: SurfaceMode; above_tokens: number };
  /** Absent in the answer of an older daemon. */
  search?: { embeddings: EmbeddingsStatus | null };
  /** Null where the config has none. Absent in the answer of an older daemon. */
  cluster?: ClusterSummary | null;
}

/** `search.embeddings`: what searches know by it. */
export interface EmbeddingsStatus {
  url: string;
  model: string | null;
  /** Texts of tools that have a vector, and those that wait for one. */
  vectors: number;
  waiting: number;
  /** Why searches rank by words alone at the moment, or some tools have no vector. */
  problem: string | null;
}

export interface FleetStatus {
  servers: ServerStatus[];
  daemon: DaemonStatus;
}

/**
 * What a transition means outside of its statechart. Of an incarnation: `started`, `ready`, `failed`, `asked_to_exit`,
 * `ended`. Of a keeper: `starting`; `restarting`, at once after an end; `callable`, from now on a call makes the next try; or
 * the state that it is now in.
 */
export type JournalKind =
  | 'started'
  | 'ready'
  | 'failed'
  | 'asked_to_exit'
  | 'ended'
  | 'starting'
  | 'restarting'
  | 'waiting'
  | 'callable'
  | 'quarantined'
  | 'needs_auth'
  | 'idle'
  | 'stopped'
  /** No transition: what toolherd did meanwhile, such as an installation. */
  | 'noted';

/** One entry of a server's journal. */
export interface JournalEntry {
  at: string;
  incarnation: number;
  /** `server`: the incarnation's statechart. `keeper`: the one above it. */
  chart: 'server' | 'keeper';
  from: string;
  to: string;
  /** The event of the statechart: `stop`, `link.exited`, `after startTimeout`, `server ended`. */
  event: string;
  /** The cause, in a sentence, redacted. */
  cause: string;
  /** Absent for a transition that changes nothing outside of its statechart. */
  kind?: JournalKind;
  /** From before the daemon was started, or the server was removed and added again. */
  earlier?: true;
}

export interface Inspection {
  server: string;
  status: ServerStatus;
  /** The resolved spec, without secrets. */
  spec: Record<string, unknown>;
  /** The full state of both charts, e.g. `connected.serving` and `running.up`. */
  snapshot: { server: string; keeper: string };
  journal: JournalEntry[];
}
