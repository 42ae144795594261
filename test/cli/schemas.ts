/**
 * The shape of what each command prints with --json, as a JSON Schema: what scripts may rely on. A field more is no break
 * of it, so objects are open; a field less, or of another type, is one.
 */
type Schema = Record<string, unknown>;

const string = { type: 'string' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const list = (items: Schema): Schema => ({ type: 'array', items });
const object = (properties: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
});
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' };
const open = { type: 'object' };

const missing = list(
  object({ server: string, list: { enum: ['tools', 'prompts', 'resources', 'templates'] }, reason: string }),
);
const listStatus = object(
  { freshness: { enum: ['unknown', 'cached', 'fresh', 'stale', 'failed'] } },
  { reason: string, next_try_at: nullable(time) },
);
const status = object(
  {
    name: string,
    agent: nullable(string),
    state: { enum: ['created', 'connecting', 'connected', 'error', 'disconnected'] },
    detail: {
      enum: [
        'idle',
        'running',
        'waiting',
        'quarantined',
        'stopped',
        'disabled',
        'needs_auth',
        'not_allowed',
        'misconfigured',
      ],
    },
    transport: { enum: ['stdio', 'sse', 'websocket', 'http', 'ssh', 'socket', 'herd', 'cluster'] },
    lifecycle: { enum: ['singleton', 'transient'] },
    pids: list(integer),
    incarnation: integer,
    restarts: integer,
    next_retry_at: nullable(time),
    last_error: nullable(object({ message: string, cause: string, at: time }, { why: string, fix: string })),
    since: time,
    in_flight: integer,
    calls: integer,
    failures: integer,
    latency_ms: object({ p50: nullable(number), p99: nullable(number) }),
    tools: integer,
    tools_tokens: integer,
    prompts: integer,
    resources: integer,
    lists: { type: 'object', additionalProperties: listStatus },
    protocol_version: nullable(string),
    server_info: nullable(open),
    rss_bytes: nullable(integer),
  },
  { nodes: list(object({ node: string, state: string, in_flight: integer })), elsewhere: { const: true } },
);
const daemon = object({
  version: string,
  pid: integer,
  started_at: time,
  socket: string,
  config_file: string,
  config_error: nullable(string),
  closing: nullable(object({ reason: { enum: ['shutdown', 'replaced'] } }, { successor: integer })),
  surface: object({ mode: { enum: ['auto', 'all', 'search'] }, above_tokens: integer }),
  search: object({
    embeddings: nullable(
      object({
        url: string,
        model: nullable(string),
        vectors: integer,
        waiting: integer,
        problem: nullable(string),
      }),
    ),
  }),
  cluster: nullable(
    object({ name: string, node: string, state: string, draining: boolean, nodes: integer }, { why: string }),
  ),
});
const error = object({ type: string, message: string }, { why: string, fix: string });
const result = object({
  success: boolean,
  content: list(object({ type: { enum: ['text', 'image', 'audio', 'binary', 'unknown'] } })),
  error: nullable(
    object(
      { type: string, message: string, retryable: boolean, sent: boolean },
      { why: string, fix: string, code: integer, data: {} },
    ),
  ),
  metadata: object({
    server: string,
    tool: string,
    request_id: string,
    incarnation: nullable(integer),
    execution_time_ms: number,
    is_error: boolean,
  }),
});
const journal = list(
  object(
    {
      at: time,
      incarnation: integer,
      chart: { enum: ['server', 'keeper'] },
      from: string,
      to: string,
      event: string,
      cause: string,
    },
    { kind: string, earlier: { const: true } },
  ),
);
const snapshot = object({ server: string, keeper: string });
const problem = object({ type: string, message: string, file: string, line: integer, column: integer });
const wouldRun = list(object({ name: string, transport: string, env: list(string) }));
const servers = object({ servers: list(status) });

const packageStatus = {
  ...{ server: string, package: string, requested: string, update: { enum: ['auto', 'manual'] } },
  ...{ version: nullable(string), installed: nullable(string), latest: nullable(string) },
  ...{ behind: boolean, refused: nullable(string) },
  ...{ problem: nullable(string), why: nullable(string), fix: nullable(string) },
};
const pinned = object({ hash: string, at: time }, { definition: open, excerpt: string });

const client = nullable(object({ name: string, version: nullable(string) }));
const figures = list(
  object({
    ...{ server: string, tool: string, calls: integer, failures: integer },
    ...{ p50_ms: number, p99_ms: number },
  }),
);

const SHAPES: Record<string, Schema> = {
  up: object({ already_running: boolean }, { pid: integer, servers: integer, daemon }),
  down: object({
    stopped: list(string),
    killed: list(string),
    attached: integer,
    next_pid: nullable(integer),
  }),
  status: object({ servers: list(status), daemon }),
  start: servers,
  stop: servers,
  restart: servers,
  reset: servers,
  reload: object({
    added: list(string),
    removed: list(string),
    changed: list(string),
    unchanged: list(string),
    dry_run: boolean,
  }),
  register: object({ servers: list(status), saved: boolean, warnings: list(string) }),
  unregister: servers,
  tools: object({
    missing,
    tools: list(
      object({
        server: string,
        name: string,
        exposed_name: string,
        description: nullable(string),
        input_schema: {},
      }),
    ),
  }),
  find: object({
    missing,
    hints: list(string),
    tools: list(
      object({
        server: string,
        name: string,
        exposed_name: string,
        signature: string,
        description: string,
        score: { type: 'number' },
      }),
    ),
  }),
  agents: object({
    agents: list(
      object({
        ...{ caller: string, via: string, client, agent: nullable(string), profile: nullable(string) },
        ...{ surface: nullable(string), since: time, calls: integer },
        in_flight: list(object({ server: string, tool: nullable(string), method: string, since: time })),
      }),
    ),
  }),
  audit: object({
    calls: list(
      object({
        ...{ topic: { const: 'call' }, server: string, method: string, tool: nullable(string) },
        ...{ caller: nullable(string), via: string, client, agent: nullable(string), duration_ms: number },
        ...{ ok: boolean, error: nullable(string), code: nullable(integer), at: time },
      }),
    ),
    next: nullable(string),
    searched: object({ from: nullable(time), records: integer, complete: boolean }),
    slowest: figures,
    failing: figures,
  }),
  profiles: object({
    profiles: list(
      object({
        name: string,
        description: nullable(string),
        file: string,
        servers: list(string),
        tools: list(string),
        renamed: object({}),
        tokens: integer,
        surface: object({
          mode: { enum: ['auto', 'all', 'search'] },
          above_tokens: integer,
          always: list(string),
          lists: { enum: ['all', 'search'] },
        }),
        unmatched: list(string),
        missing,
      }),
    ),
  }),
  prompts: object({
    missing,
    prompts: list(
      object({
        server: string,
        name: string,
        exposed_name: string,
        description: nullable(string),
        arguments: list({}),
      }),
    ),
  }),
  resources: object({
    missing,
    resources: list(object({ server: string, uri: string, name: string, mime_type: nullable(string) })),
    templates: list(object({ server: string, uri_template: string, name: string })),
  }),
  call: object({ result }),
  'call-many': object({ results: list(result) }),
  prompt: object({ result: object({ messages: list(open) }) }),
  resource: object({ result: object({ contents: list(open) }) }),
  why: object({ server: string, status, snapshot, journal }),
  inspect: object({ server: string, status, spec: open, snapshot, journal }),
  logs: object({
    entries: list(
      object({ time, level: string, server: nullable(string), source: nullable(string), text: string }),
    ),
  }),
  events: object({
    topic: { enum: ['state', 'log', 'catalog', 'call', 'notification'] },
    server: string,
    at: time,
  }),
  validate: object({
    ok: boolean,
    files: list(
      object({
        file: string,
        kind: { enum: ['config', 'agent', 'source'] },
        ok: boolean,
        servers: list(object({ name: string, transport: string, enabled: boolean })),
        problems: list(problem),
        warnings: list(problem),
        variables: list(object({ name: string, resolved: boolean })),
      }),
    ),
  }),
  schema: object({ schema: open }),
  allow: object({ ok: boolean, file: string, would_run: wouldRun }),
  revoke: object({ ok: boolean, file: string, was_allowed: boolean }),
  pins: object({
    policy: { enum: ['off', 'warn', 'enforce'] },
    servers: list(
      object({
        server: string,
        problem: nullable(string),
        tools: list(
          object({
            tool: string,
            state: { enum: ['pinned', 'changed', 'new'] },
            blocked: boolean,
            pinned: nullable(pinned),
            offered: nullable(pinned),
          }),
        ),
      }),
    ),
    accepted: list(object({ server: string, tool: string, hash: string })),
  }),
  outdated: object({ packages: list(object(packageStatus)) }),
  update: object({
    packages: list(
      object({
        ...packageStatus,
        result: { enum: ['current', 'updated', 'kept', 'not_installed', 'would_update', 'failed'] },
        restarted: boolean,
      }),
    ),
  }),
  cluster: object(
    {
      engine: nullable(string),
      name: nullable(string),
      node: nullable(string),
      state: { enum: ['off', 'connecting', 'connected', 'lost'] },
      since: nullable(time),
      draining: boolean,
      servers_url: list(string),
      nodes: list(
        object({
          name: string,
          self: boolean,
          version: nullable(string),
          state: { enum: ['up', 'draining', 'away'] },
          since: time,
          latency_ms: nullable(number),
          servers: list(object({ name: string, state: string, in_flight: integer, cluster: boolean })),
        }),
      ),
    },
    { why: string, fix: string },
  ),
  doctor: object({
    ok: boolean,
    errors: integer,
    warnings: integer,
    findings: list(
      object({ about: string, level: { enum: ['ok', 'warn', 'error'] }, message: string }, { fix: string }),
    ),
  }),
  completion: object({ shell: string, script: string }),
  socket: object({ path: string }),
  ui: object({ url: string, expires_at: string }),
  version: object({ version: string, node: string }),
  help: object({ help: string }),
};

const versioned = (shape: Schema): Schema => ({ allOf: [object({ api_version: { const: 1 } }), shape] });

export const SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(SHAPES).map(([command, shape]) => [command, versioned(shape)]),
);

/** Whatever the command: it failed, and this is how. */
export const FAILURE = versioned(object({ ok: { const: false }, error }));

/** Those whose shape is held by tests of their own, or that print none: the bridge speaks MCP. */
export const ELSEWHERE: readonly string[] = [
  'auth',
  'bridge',
  'search',
  'show',
  'add',
  'remove',
  'enable',
  'disable',
  'list',
  'import',
  'attach',
  'detach',
  'service',
];
