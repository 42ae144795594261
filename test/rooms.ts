/**
 * The folders of src, in order of dependence: a room imports code only from the rooms it names, and its subfolders import
 * code only from those that stand before them. Types may come from anywhere in the rooms of `imports` and `types`.
 * test/architecture.test.ts enforces the list; the table in docs/ARCHITECTURE.md is made from it.
 */
export interface Room {
  name: string;
  does: string;
  /** Rooms whose code it may use. */
  imports: readonly string[];
  /** Rooms of which it may use only types. */
  types?: readonly string[];
  /** Packages, and `node` for Node's own modules. */
  packages?: readonly string[];
  /** Of which it may use only types. */
  typePackages?: readonly string[];
  /** Subfolders in order of dependence, each with what it does. `.` stands for the files of the room itself. */
  inside?: readonly (readonly [folder: string, does: string])[];
}

export const ROOMS: readonly Room[] = [
  {
    name: 'shared',
    does: 'what every folder may use: errors, clock, timers and queues, JSON, the version',
    imports: [],
    packages: ['node', 'diff'],
    inside: [
      ['.', ''],
      [
        'text',
        'shell words, durations, control characters, near-miss suggestions, globs, order of versions, differences of lines',
      ],
      ['secrets', 'names and forms of secrets; the redactor removes them from logs, errors and status'],
      ['files', 'paths of all files and folders; atomic writes; removal of old files'],
      ['mcp', 'names, headers, error codes and log levels of MCP and JSON-RPC; what a profile is'],
      ['framing', 'bytes to lines; `RawJson`, a value that is passed on as its bytes'],
      ['report', 'errors for people and scripts: their text, exit statuses, problems of a config'],
    ],
  },
  {
    name: 'fleet',
    does: 'the interface of a herd: its methods, types, events and texts',
    imports: ['shared'],
    inside: [
      ['.', ''],
      [
        'texts',
        'what the command and the page say of a server: notes, the sentences of `why`, differences of pins',
      ],
    ],
  },
  {
    name: 'search',
    does: 'finds tools by words: their stems and synonyms, an inverted index, the ranking, one-line signatures; pure',
    imports: ['shared'],
    packages: ['stemmer'],
  },
  {
    name: 'embeddings',
    does: 'vectors of texts from a service that the config names: requests, limits, a file that keeps them',
    imports: ['shared'],
    types: ['fleet', 'search'],
    packages: ['node'],
  },
  {
    name: 'machines',
    does: 'the statecharts of server, keeper and transient server, and the restart policy; pure',
    imports: [],
    packages: ['xstate', '@dagrejs/dagre'],
    inside: [
      ['restart', 'how an incarnation ended, and whether and when the next one starts: backoff, quarantine'],
      ['.', ''],
    ],
  },
  {
    name: 'testing',
    does: 'a simulated world and clock for model tests of the machines',
    imports: ['machines'],
    packages: ['xstate'],
  },
  {
    name: 'config',
    does: 'files to specs: load, trust, watch',
    imports: ['shared', 'machines'],
    packages: ['node', 'zod', 'yaml', 'dotenv', 'jsonc-parser'],
    inside: [
      ['parse', 'text to a document with positions; limits on its size and depth; problems'],
      ['fields', 'fields, shapes and settings of both files; the resolved spec'],
      ['variables', '`${VAR}`, env files'],
      [
        'packages',
        'packages of the registry and of plugins: the command that runs them, the variables that they declare',
      ],
      ['entry', 'one entry: its rules, its command, its environment'],
      ['trust', 'which agent files the user has allowed'],
      ['edit', 'changes to a file that keep its comments'],
      ['.', ''],
    ],
  },
  {
    name: 'processes',
    does: 'process groups of servers: stop sequence, table, watchdog, ledger, kill of orphans after a dead daemon',
    imports: ['shared'],
    packages: ['node'],
  },
  {
    name: 'packages',
    does: 'packages of npx entries: npm installs each once, and its command is started without npx',
    imports: ['shared', 'processes'],
    types: ['fleet'],
    packages: ['node'],
  },
  {
    name: 'link',
    does: 'the connection to one incarnation of a server',
    imports: ['shared', 'processes', 'packages'],
    types: ['machines', 'config'],
    packages: ['node', 'ws', '@modelcontextprotocol/sdk', '@modelcontextprotocol/client'],
    inside: [
      ['calls/raw', 'large replies as bytes: checked while they arrive, never parsed'],
      ['calls', 'the session: calls in flight, their ids, timeouts, limits, replies, cancellation'],
      ['auth', 'OAuth: tokens, renewal, the browser callback'],
      ['failures', 'what a crash, a failed start or a lost connection tells the caller'],
      ['protocol', 'what both eras of MCP share: lists, requests of servers, the driver interface'],
      ['protocol/mcp-2025', 'MCP up to 2025-11-25'],
      ['protocol/mcp-2026', 'MCP from 2026-07-28'],
      ['protocol/negotiation', 'finds out which era a server speaks; puts session and driver together'],
      ['stdio', 'a server as a child process'],
      ['remote', 'a server over HTTP, SSE or WebSocket, or one of another herd'],
      ['.', ''],
    ],
  },
  {
    name: 'supervisor',
    does: 'the herd: keeps servers running and routes calls to them',
    imports: ['shared', 'fleet', 'search', 'machines', 'processes', 'packages', 'link'],
    types: ['config'],
    packages: ['node', 'xstate'],
    inside: [
      ['.', ''],
      ['memory', 'memory budgets: measure, restart, evict'],
      ['events', 'event bus, journal, messages of servers, records of calls'],
      ['catalog', 'what servers offer, and under which public names'],
      ['pins', 'compares tool definitions with their pins'],
      [
        'cluster',
        'a server that other nodes of the cluster have, too: the choice of a node, calls that move',
      ],
      ['server', 'one configured server: replicas, transient processes, gates, permits'],
      ['view', 'the servers and lists that one agent sees'],
      ['routing', 'requests to the herd: which server gets them, fan-out, results'],
      ['herd', 'all servers, and the views of them'],
    ],
  },
  {
    name: 'ipc',
    does: 'the herd over a socket',
    imports: ['shared', 'fleet', 'processes'],
    packages: ['node'],
    inside: [
      ['jsonrpc', 'one JSON-RPC connection over any stream: requests both ways, write queue, errors'],
      ['verbs', 'the table of verbs: each method of `Fleet` with its params and result on the socket'],
      ['socket', 'the Unix socket: path, lock, owner, first bytes'],
      ['mcp', 'MCP towards agents: sessions, lists, notifications'],
      ['mcp/mcp-2026', 'MCP 2026-07-28 towards agents'],
      ['http', 'streamable HTTP on the socket and on TCP'],
      ['server', '`fleet/*` and MCP methods of one connection'],
      ['client', 'a `Fleet` over the socket'],
    ],
  },
  {
    name: 'herds',
    does: 'other herds: the connection to their daemons by ssh or a socket, and what they tell of their servers',
    imports: ['shared', 'fleet', 'processes', 'link', 'ipc'],
    types: ['machines', 'config'],
    packages: ['node'],
  },
  {
    name: 'cluster',
    does: 'the other nodes of a cluster on NATS: who is there and what they offer, and streams to them',
    imports: ['shared'],
    types: ['config'],
    packages: ['node', '@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/kv'],
  },
  {
    name: 'log',
    does: 'log files and their rotation; the audit file',
    imports: ['shared'],
    packages: ['node', 'pino'],
  },
  {
    name: 'integrations',
    does: 'config files of other programs: finds, imports and edits their MCP servers',
    imports: ['shared', 'config'],
    packages: ['node', 'jsonc-parser', 'smol-toml'],
    inside: [
      ['clients', 'one file per client: where its config is and how it writes a server'],
      ['.', ''],
    ],
  },
  {
    name: 'registry',
    does: 'the official MCP registry: search, versions, entries to install',
    imports: ['shared', 'config'],
    packages: ['node'],
  },
  {
    name: 'install',
    does: 'changes to files of the user, for the command and the page: adds servers, allows agent files',
    imports: ['shared', 'config', 'integrations', 'registry'],
    packages: ['node'],
  },
  {
    name: 'dashboard',
    does: 'the page of the herd, on the side of the daemon: links and cookies, files, WebSockets',
    imports: ['shared', 'config', 'ipc', 'install'],
    types: ['fleet'],
    packages: ['node', 'ws'],
  },
  {
    name: 'page',
    does: 'the dashboard in the browser; no code of Node',
    imports: ['shared', 'fleet', 'machines'],
    packages: ['preact', 'htm', '@preact/signals', 'uplot'],
    inside: [
      ['text', 'numbers, states and series for people; sorting; pure'],
      ['live', 'the connection to the daemon, and the store of what it says'],
      ['parts', 'components that several pages use; routes'],
      ['herd', 'all servers, and what needs attention first'],
      ['server/form', 'a form from a JSON Schema'],
      ['server', 'one server'],
      ['agents', 'who is connected'],
      ['calls', 'the audit'],
      ['cluster', 'the nodes of the cluster, and what they share'],
      ['config', 'problems of the config, reload, trust'],
      ['registry', 'search and add'],
      ['.', ''],
    ],
  },
  {
    name: 'daemon',
    does: 'puts config, supervisor, link, ipc, log and dashboard together',
    imports: [
      'shared',
      'fleet',
      'embeddings',
      'config',
      'processes',
      'packages',
      'link',
      'supervisor',
      'ipc',
      'herds',
      'cluster',
      'log',
      'dashboard',
    ],
    packages: ['node'],
    inside: [
      [
        'cluster',
        'this daemon as a node of a cluster: servers of other nodes here, and what other nodes may use',
      ],
      ['.', ''],
    ],
  },
  {
    name: 'library',
    does: 'what scripts import: `connect` and `openFleet`',
    imports: ['shared', 'fleet', 'config', 'processes', 'ipc', 'daemon'],
    packages: ['node'],
  },
  {
    name: 'bin',
    does: 'entry points of the command and the daemon; loads bundles with their compiled code',
    imports: ['shared'],
    packages: ['node'],
  },
  {
    name: 'cli',
    does: 'the command',
    imports: [
      'shared',
      'fleet',
      'machines',
      'config',
      'processes',
      'ipc',
      'log',
      'integrations',
      'registry',
      'install',
      'bin',
    ],
    packages: ['node', 'execa'],
    typePackages: ['xstate'],
    inside: [
      ['ui', 'output, tables, colours, prompts'],
      ['core', 'what a command is: arguments, durations, exit codes, errors'],
      ['daemon', 'connects to the daemon, or starts it'],
      ['commands/servers', 'status, why, logs, start, stop, …'],
      ['commands/tools', 'tools, call, prompts, resources, …'],
      ['commands/registry', 'search, show'],
      ['commands/config', 'add, remove, list, validate, schema'],
      ['commands/daemon/doctor', 'the checks of doctor'],
      ['commands/daemon/service', 'systemd and launchd'],
      ['commands/daemon', 'up, down, reload, doctor, service'],
      ['commands/agents/bridge', 'lines between an agent and the socket'],
      ['commands/agents', 'attach, detach, bridge'],
      ['commands/import', 'import'],
      ['commands/trust', 'allow, revoke, auth, pins'],
      ['commands/help/completion', 'shell completion'],
      ['commands/help', 'help, version, completion'],
      ['.', ''],
    ],
  },
  {
    name: '.',
    does: 'the public API: index.ts and client.ts',
    imports: ['shared', 'fleet', 'config', 'ipc', 'library'],
  },
];
