import type { RestartPolicy } from '../../machines/restart/restart-policy.js';
import type { LogThreshold } from '../../shared/mcp/log-levels.js';
import type { Separator } from '../../shared/mcp/separators.js';
import type { Surface } from '../../shared/mcp/surface.js';
import type { Problem } from '../parse/problem.js';

/** The position of an entry, for errors and for `list`. */
export interface Origin {
  /** `global`: the user's config.yaml. `agent`: an agent.yaml. `registered`: passed over the socket. */
  scope: 'global' | 'agent' | 'registered';
  file: string;
  line: number;
  column: number;
}

export interface Root {
  uri: string;
  name: string;
}

/**
 * `not_allowed`: its file was revoked or deleted while in use; `why` names the file and what happened. `misconfigured`:
 * its entry cannot be resolved (a variable is unset, a file is missing); `type` is that of the ConfigError that callers
 * get.
 */
export type Unusable =
  | { detail: 'not_allowed'; why: string; fix: string }
  | { detail: 'misconfigured'; type: string; problems: readonly Problem[] };

/** How a server takes part in the cluster. */
export interface ClusterPart {
  /** The same on every node whose entry is the same. */
  identity: string;
  /** The least busy node takes a call; otherwise this node does while it can. */
  balanced: boolean;
  /** Its `place` has this node. Elsewhere the server is used, and never started. */
  isPlacedHere: boolean;
}

interface CommonSpec extends RestartPolicy {
  name: string;
  description: string | undefined;
  /** The identifier of the package or service. It says what the server is, not how it is reached. */
  server: string;
  registryName: string | undefined;
  origin: Origin;
  enabled: boolean;
  /**
   * Why toolherd lists the server but never runs it, for a reason other than `enabled: false`. `enabled` is then false.
   */
  unusable?: Unusable;
  /** The declared environment: `envFile`, overridden by `env`. */
  env: Readonly<Record<string, string>>;
  /** Passed to the server unchanged. */
  config: Readonly<Record<string, unknown>> | undefined;
  roots: readonly Root[];
  loadTools: boolean;
  loadPrompts: boolean;
  requestTimeoutMs: number;
  maxTimeoutMs: number;
  sharing: 'shared' | 'per-agent' | 'per-folder';
  replicas: number;
  start: 'lazy' | 'eager';
  /** 0 = never. */
  idleTimeoutMs: number;
  /** 0 = off, for each. */
  ping: { intervalMs: number; timeoutMs: number };
  tools: { allow: readonly string[]; deny: readonly string[] };
  maxMessageBytes: number;
  maxInFlight: number;
  /** Characters; 0 = off. */
  resultLimit: number;
  /** Absent: nodes of the cluster have no replicas of it. */
  cluster?: ClusterPart;
}

export interface StdioSpec extends CommonSpec {
  transport: 'stdio';
  command: string;
  args: readonly string[];
  cwd: string;
  /** A WHATWG label as TextDecoder spells it, e.g. `utf-8`. */
  encoding: string;
  startTimeoutMs: number;
  lifecycle: 'singleton' | 'transient';
  spares: number;
  stop: { closeMs: number; termMs: number };
  /** Bytes of the process group; 0 = off. */
  maxRss: number;
  /** How `npx` is run. Absent: as `daemon.runner` says. */
  runner?: 'direct' | 'plain';
  /** Absent: a newer version is installed in the background. */
  update?: 'manual';
}

interface RemoteCommon extends CommonSpec {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** For connection and handshake. */
  timeoutMs: number;
}

export interface SseSpec extends RemoteCommon {
  transport: 'sse';
  sseReadTimeoutMs: number;
}

export interface WebsocketSpec extends RemoteCommon {
  transport: 'websocket';
}

export interface HttpSpec extends RemoteCommon {
  transport: 'http';
  sseReadTimeoutMs: number;
  terminateOnClose: boolean;
}

/** A server of another herd, which the daemon of that herd keeps. */
export interface HerdServerSpec extends RemoteCommon {
  transport: 'herd';
  /** The name of the herd, or of the node of the cluster. */
  herd: string;
  /** The name of the server in that herd. */
  remoteName: string;
  /** `herd` is a node of the cluster. */
  isNode?: true;
}

export type RemoteSpec = SseSpec | WebsocketSpec | HttpSpec | HerdServerSpec;

/** A server that only other nodes of the cluster have. Its replicas are connections to it there (`HerdServerSpec`). */
export interface ClusterServerSpec extends RemoteCommon {
  transport: 'cluster';
  cluster: ClusterPart;
}

/** Another herd: the connection to its daemon, kept like a server. */
export interface HerdSpec extends RemoteCommon {
  /** `ssh`: by a forwarded socket. `socket`: a socket of this machine. */
  transport: 'ssh' | 'socket';
  /** The destination for ssh, or the path of the socket. */
  address: string;
  /** What the shell of the other machine runs as toolherd. */
  command: string;
  /** Globs of its servers. */
  servers: { allow: readonly string[]; deny: readonly string[] };
}

/**
 * A configured server as the rest of toolherd sees it: every default filled in, every variable resolved, every duration
 * in milliseconds. How the file spelled it is not kept.
 */
export type ServerSpec = StdioSpec | RemoteSpec | HerdSpec | ClusterServerSpec;

export function isHerd(spec: ServerSpec): spec is HerdSpec {
  return spec.transport === 'ssh' || spec.transport === 'socket';
}

/** A service for embeddings, by the API of OpenAI. */
export interface EmbeddingsSpec {
  /** `/embeddings` is added to it. */
  url: string;
  model: string | undefined;
  /** A bearer token. */
  key: string | undefined;
}

/** What proves to NATS who this node is. Files are full paths; they are read at each connection. */
export type ClusterCredentials =
  | { kind: 'creds' | 'nkey'; file: string }
  | { kind: 'user'; user: string; password: string }
  | { kind: 'token'; token: string };

/** `cluster:` of config.yaml: this daemon is a node of a cluster. */
export interface ClusterSpec {
  engine: 'nats';
  /** Subjects and the bucket of NATS begin with it. */
  name: string;
  /** `nats://HOST:PORT` or `tls://HOST:PORT`, without user and password. */
  servers: readonly string[];
  /** The name of this node. */
  node: string;
  /** Globs of servers that other nodes may use, besides those with `cluster: true`. */
  share: readonly string[];
  /** Globs of servers of other nodes that this one uses. */
  use: readonly string[];
  credentials: ClusterCredentials | undefined;
  /** Full paths. Undefined: TLS only where the NATS server asks for it. */
  tls: { ca?: string; cert?: string; key?: string } | undefined;
}

/** The `cluster:`, `daemon:`, `search:` and `security:` settings of config.yaml, defaults filled in. */
export interface Settings {
  daemon: {
    http: { host: string; port: number; token: 'auto' | 'none' } | undefined;
    registry: string;
    logLevel: LogThreshold;
    logMaxBytes: number;
    listWaitMs: number;
    /** What agents see; `separator`: of public names. */
    surface: Surface & { separator: Separator };
    /** Of entries with `npx` that do not say it. */
    runner: 'direct' | 'plain';
    /** 0 = never. */
    updateCheckMs: number;
    /** 0 = twice the number of cores; the daemon fills that in. */
    maxStarting: number;
    /** Bytes; 0 = off. */
    maxRss: number;
  };
  search: {
    /** Undefined: searches rank by words alone. */
    embeddings: EmbeddingsSpec | undefined;
  };
  security: {
    allowedCommands: readonly string[];
    allowHttp: readonly string[];
    trust: 'ask' | 'all';
    pin: 'off' | 'warn' | 'enforce';
    sampling: 'ask-agent' | 'deny';
    elicitation: 'ask-agent' | 'deny';
    installScripts: 'allow' | 'deny';
  };
  /** Undefined: this daemon is in no cluster. */
  cluster: ClusterSpec | undefined;
}
