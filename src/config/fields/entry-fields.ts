import * as z from 'zod/mini';
import type { Default } from './defaults.js';
import {
  anyMap,
  choice,
  flag,
  map,
  names,
  optional,
  pairs,
  seconds,
  secondsOrOff,
  text,
  texts,
  whole,
  within,
} from './shapes.js';
import { TRANSPORT_NAMES, TRANSPORTS, type Transport } from './transports.js';

/** What fields are for, in the order of docs/CONFIG.md. */
export const FIELD_GROUPS = {
  entry: 'Name and kind',
  runs: 'What runs, or where it is',
  processes: 'Processes',
  restarts: 'Restarts and health',
  times: 'Times',
  lists: 'Lists',
  limits: 'Limits',
  cluster: 'Cluster',
} as const;
type FieldGroup = keyof typeof FIELD_GROUPS;

/** A field of an entry: its group, its transports, its shape, and its description and default for editors and docs. */
export interface Field {
  group: FieldGroup;
  for: readonly Transport[];
  shape: z.ZodMiniType;
  about: string;
  default: Default;
}

const STDIO = ['stdio'] as const;
const REMOTE = TRANSPORTS.filter((name) => name !== 'stdio');

/** What a plugin manifest may name as its runtime. */
export const RUNTIMES = ['uvx', 'npx', 'python', 'node', 'docker'] as const;
/** Commands that every entry may run; `security.allowed_commands` adds to them. */
export const BUILT_IN_COMMANDS = ['npx', 'uvx', 'docker'] as const;
/** The fields whose strings may hold `${VAR}`. */
export const EXPANDED_FIELDS = ['env', 'headers', 'url', 'args', 'cwd', 'config', 'roots'] as const;

const transport = z.union([choice(...TRANSPORT_NAMES), map({ type: choice(...TRANSPORT_NAMES) })], {
  error: `one of ${TRANSPORT_NAMES.join(', ')}`,
});

const REGISTRY_NAME = /^[A-Za-z0-9][A-Za-z0-9.-]*\/[A-Za-z0-9._-]+$/;
const BYTES = ' of bytes';
const MAX_BYTES = 2 ** 31 - 1;

export const FIELDS = {
  name: {
    group: 'entry',
    for: TRANSPORTS,
    shape: text(),
    about: 'Name of the server. It must be unique in its file and hold no control characters.',
    default: 'required',
  },
  description: {
    group: 'entry',
    for: TRANSPORTS,
    shape: z.string({ error: 'a text' }),
    about: 'What the server is for. A missing description is a warning.',
    default: 'none',
  },
  type: {
    group: 'entry',
    for: TRANSPORTS,
    shape: choice('mcp'),
    about: 'Always mcp. It is required in agent.yaml, where other programs have entries too.',
    default: 'none',
  },
  server: {
    group: 'entry',
    for: TRANSPORTS,
    shape: text(),
    about: 'Identifier of the package or service.',
    default: 'required',
  },
  transport: {
    group: 'entry',
    for: TRANSPORTS,
    shape: transport,
    about: 'How toolherd connects to the server: stdio, sse, websocket or http.',
    default: 'stdio',
  },
  command: {
    group: 'runs',
    for: STDIO,
    shape: text(),
    about:
      'Program to run: npx, uvx, docker, or one of security.allowed_commands. Not required with plugin_dir.',
    default: 'required',
  },
  args: {
    group: 'runs',
    for: STDIO,
    shape: texts(),
    about:
      'Arguments of the command. One that begins with ./ is a path from the folder of the file, whatever cwd is. Any other (., ../x) is passed as it is.',
    default: '[]',
  },
  env: {
    group: 'runs',
    for: TRANSPORTS,
    shape: pairs(),
    about: 'Environment variables of the server. Values may hold ${VAR}.',
    default: '{}',
  },
  envFile: {
    group: 'runs',
    for: TRANSPORTS,
    shape: text(),
    about:
      "Path of a .env file, from the folder of the file. A project's file may name one inside its folder only. env overrides its values.",
    default: 'none',
  },
  env_file: {
    group: 'runs',
    for: TRANSPORTS,
    shape: text(),
    about: 'Another name of envFile.',
    default: 'none',
  },
  encoding: {
    group: 'runs',
    for: STDIO,
    shape: text(),
    about: "Encoding of the server's stdin and stdout, as a WHATWG label.",
    default: 'utf-8',
  },
  cwd: {
    group: 'runs',
    for: STDIO,
    shape: text(),
    about:
      'Working directory of the server. With sharing: per-folder, only for agents whose folder is not known.',
    default: 'the folder of the file',
  },
  url: {
    group: 'runs',
    for: REMOTE,
    shape: text(),
    about: 'Address of the server: https, or http on localhost; wss or ws for websocket.',
    default: 'required',
  },
  headers: {
    group: 'runs',
    for: REMOTE,
    shape: pairs(),
    about: 'HTTP headers. Values may hold ${VAR}.',
    default: '{}',
  },
  timeout: {
    group: 'times',
    for: REMOTE,
    shape: seconds(),
    about: 'Seconds for connection and handshake.',
    default: 30,
  },
  start_timeout: {
    group: 'times',
    for: STDIO,
    shape: seconds(),
    about: 'Seconds from the start of the process to the end of the handshake.',
    default: 120,
  },
  sse_read_timeout: {
    group: 'times',
    for: ['sse', 'http'],
    shape: seconds(),
    about: 'Seconds without an event after which an event stream counts as lost.',
    default: 300,
  },
  terminate_on_close: {
    group: 'runs',
    for: ['http'],
    shape: flag(),
    about: 'Whether toolherd sends DELETE for the session when it closes the connection.',
    default: true,
  },
  config: {
    group: 'runs',
    for: TRANSPORTS,
    shape: anyMap(),
    about: 'Settings that are passed to the server. Its allowed_directories also become MCP roots.',
    default: 'none',
  },
  roots: {
    group: 'runs',
    for: TRANSPORTS,
    shape: names(),
    about: 'Folders or file URIs that the server gets as MCP roots.',
    default: '[]',
  },
  load_tools: {
    group: 'lists',
    for: TRANSPORTS,
    shape: flag(),
    about: 'Whether toolherd reads the list of tools.',
    default: true,
  },
  load_prompts: {
    group: 'lists',
    for: TRANSPORTS,
    shape: flag(),
    about: 'Whether toolherd reads the list of prompts.',
    default: true,
  },
  request_timeout: {
    group: 'times',
    for: TRANSPORTS,
    shape: whole(1, 2_147_483, ' of seconds'),
    about: 'Seconds that a call may take without progress.',
    default: 60,
  },
  max_timeout: {
    group: 'times',
    for: TRANSPORTS,
    shape: seconds(),
    about: 'Seconds that a call may take in total, progress or not.',
    default: 600,
  },
  registry_name: {
    group: 'entry',
    for: TRANSPORTS,
    shape: text().check(z.regex(REGISTRY_NAME, { error: 'a registry name such as io.github.user/server' })),
    about: 'Full name of the server in the registry. toolherd add writes it.',
    default: 'none',
  },
  runner: {
    group: 'processes',
    for: STDIO,
    shape: choice('direct', 'plain'),
    about:
      'Only for npx. direct: toolherd installs the package once and starts its command without npx. plain: npx is started as written.',
    default: { value: 'direct', shown: 'as daemon.runner' },
  },
  update: {
    group: 'processes',
    for: STDIO,
    shape: choice('auto', 'manual'),
    about:
      'Only for npx with a package whose version is not exact. auto: toolherd installs a newer version in the background, and the next start uses it. manual: only toolherd update installs it.',
    default: 'auto',
  },
  lifecycle: {
    group: 'processes',
    for: STDIO,
    shape: choice('singleton', 'transient'),
    about: 'singleton: one process for all calls. transient: one process for each call.',
    default: 'singleton',
  },
  spares: {
    group: 'processes',
    for: STDIO,
    shape: whole(0, 64),
    about: 'Processes of a transient server that are started in advance.',
    default: 0,
  },
  sharing: {
    group: 'processes',
    for: TRANSPORTS,
    shape: choice('shared', 'per-agent', 'per-folder'),
    about:
      'shared: all agents use the same process. per-agent: each agent has its own. per-folder: agents that work in the same folder share one; it runs in that folder, and gets it as its root.',
    default: 'shared',
  },
  replicas: {
    group: 'processes',
    for: TRANSPORTS,
    shape: whole(1, 64),
    about: 'Number of processes that share the calls.',
    default: 1,
  },
  start: {
    group: 'processes',
    for: TRANSPORTS,
    shape: choice('lazy', 'eager'),
    about:
      'lazy: toolherd starts the server at the first call, or to read its lists when they are not cached. eager: it starts the server at once.',
    default: 'lazy',
  },
  idle_timeout: {
    group: 'processes',
    for: TRANSPORTS,
    shape: secondsOrOff(),
    about: 'Seconds without a call after which toolherd stops the server; 0 means never.',
    default: 0,
  },
  restart: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: choice('on-failure', 'always', 'never'),
    about: 'When toolherd restarts a server that ended: on-failure, always or never.',
    default: 'on-failure',
  },
  max_restarts: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: whole(0, 1000),
    about: 'Restarts within restart_window after which the server is quarantined.',
    default: { value: 5, shown: '5 (no limit for remote servers)' },
  },
  restart_window: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: seconds(),
    about: 'Seconds in which max_restarts are counted.',
    default: 60,
  },
  backoff: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: map({
      min: optional(seconds()),
      max: optional(seconds()),
      factor: optional(within(1, 100)),
      jitter: optional(within(0, 1)),
    }),
    about:
      'Pause between restarts: from min to max seconds, multiplied by factor each time, varied at random by the share jitter.',
    default: { min: 0.5, max: 30, factor: 2, jitter: 0.2 },
  },
  healthy_after: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: seconds(),
    about: 'Seconds of uptime after which the server counts as healthy and the backoff starts again.',
    default: 30,
  },
  stop: {
    group: 'processes',
    for: STDIO,
    shape: map({ close: optional(secondsOrOff()), term: optional(secondsOrOff()) }),
    about:
      'Seconds that toolherd waits after closing stdin (close), then after SIGTERM (term), before SIGKILL.',
    default: { close: 2, term: 5 },
  },
  ping: {
    group: 'restarts',
    for: TRANSPORTS,
    shape: map({ interval: optional(secondsOrOff()), timeout: optional(secondsOrOff()) }),
    about: 'Health check: seconds between two pings, and seconds for the answer; 0 turns either off.',
    default: { interval: 15, timeout: 10 },
  },
  tools: {
    group: 'lists',
    for: TRANSPORTS,
    shape: map({ allow: optional(names()), deny: optional(names()) }),
    about: 'Glob patterns of tool names. Agents see tools that match allow and do not match deny.',
    default: { allow: ['*'], deny: [] },
  },
  max_message_bytes: {
    group: 'limits',
    for: TRANSPORTS,
    shape: whole(1024, MAX_BYTES, BYTES),
    about: 'Largest message of the server in bytes.',
    default: { value: 64 * 1024 * 1024, shown: '64 MiB' },
  },
  max_in_flight: {
    group: 'limits',
    for: TRANSPORTS,
    shape: whole(1, 10_000),
    about: 'Calls that the server handles at once. Further calls wait.',
    default: 256,
  },
  max_rss: {
    group: 'limits',
    for: STDIO,
    shape: whole(1, Number.MAX_SAFE_INTEGER, BYTES),
    about: 'Bytes of memory of the process group above which toolherd restarts the server.',
    default: { value: 0, shown: 'no limit' },
  },
  result_limit: {
    group: 'limits',
    for: TRANSPORTS,
    shape: whole(1, MAX_BYTES),
    about: 'Characters of text in a result for an agent. Longer text is saved to a file and linked.',
    default: { value: 0, shown: 'no limit' },
  },
  plugin_dir: {
    group: 'runs',
    for: STDIO,
    shape: text(),
    about: 'Folder with a plugin.json or server.json that says what to run.',
    default: 'none',
  },
  runtime_hint: {
    group: 'runs',
    for: STDIO,
    shape: choice(...RUNTIMES),
    about: 'Runtime to choose when the manifest has packages for several.',
    default: 'none',
  },
  manifest: {
    group: 'runs',
    for: STDIO,
    shape: text(),
    about: 'File name of the manifest in plugin_dir.',
    default: 'plugin.json or server.json',
  },
  place: {
    group: 'cluster',
    for: TRANSPORTS,
    shape: names(),
    about:
      'Nodes of the cluster that may run the server, as globs of their names. Every other node uses it from there. Only in config.yaml.',
    default: ['*'],
  },
  cluster: {
    group: 'cluster',
    for: TRANSPORTS,
    shape: flag(),
    about:
      'true: the server is shared, and the least busy node that has it takes a call. false: agents of this node use its own process while that can take calls. Only in config.yaml.',
    default: false,
  },
  enabled: {
    group: 'entry',
    for: TRANSPORTS,
    shape: flag(),
    about: 'false keeps the entry in the file without using it.',
    default: true,
  },
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;

const REQUIRED: ReadonlySet<string> = new Set(['name', 'server']);

/** An entry as one strict shape. */
export const ENTRY = map(
  Object.fromEntries(
    Object.entries(FIELDS).map(([name, { shape }]) => [name, REQUIRED.has(name) ? shape : optional(shape)]),
  ),
);

export function isField(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name);
}
