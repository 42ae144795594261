import * as z from 'zod/mini';
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
import type { Transport } from './spec.js';

/** Every field of an entry: its shape, the transports it belongs to, and a line about it for editors and docs. */
export interface Field {
  for: readonly Transport[];
  shape: z.ZodMiniType;
  about: string;
}

const ALL = ['stdio', 'sse', 'websocket', 'http'] as const;
const STDIO = ['stdio'] as const;
const REMOTE = ['sse', 'websocket', 'http'] as const;

export const TRANSPORT_NAMES = [
  'stdio',
  'sse',
  'websocket',
  'http',
  'streamable_http',
  'streamable-http',
] as const;
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
  name: { for: ALL, shape: text(), about: 'What you call it. Unique in its file, no control characters.' },
  description: { for: ALL, shape: z.string({ error: 'a text' }), about: 'What it is good for.' },
  type: { for: ALL, shape: choice('mcp'), about: 'Always mcp; needed in agent.yaml.' },
  server: { for: ALL, shape: text(), about: 'Identifier of the package or service.' },
  transport: { for: ALL, shape: transport, about: 'How it is reached; default stdio.' },
  command: {
    for: STDIO,
    shape: text(),
    about: 'npx, uvx or docker, plus security.allowed_commands of config.yaml.',
  },
  args: { for: STDIO, shape: texts(), about: 'Arguments; ./x is relative to the folder of the file.' },
  env: { for: ALL, shape: pairs(), about: 'Environment of the server; values may hold ${VAR}.' },
  envFile: { for: ALL, shape: text(), about: 'A .env file inside the folder of the file; env wins over it.' },
  env_file: { for: ALL, shape: text(), about: 'The same as envFile.' },
  encoding: { for: STDIO, shape: text(), about: 'Encoding of its stdin and stdout; default utf-8.' },
  cwd: { for: STDIO, shape: text(), about: 'Working directory; default: the folder of the file.' },
  url: { for: REMOTE, shape: text(), about: 'https, or http on localhost; wss or ws for websocket.' },
  headers: { for: REMOTE, shape: pairs(), about: 'HTTP headers; values may hold ${VAR}.' },
  timeout: { for: REMOTE, shape: seconds(), about: 'Seconds for connection and handshake; default 30.' },
  start_timeout: {
    for: STDIO,
    shape: seconds(),
    about: 'Seconds from spawn to end of handshake; default 120.',
  },
  sse_read_timeout: {
    for: ['sse', 'http'],
    shape: seconds(),
    about: 'Seconds between two events; default 300.',
  },
  terminate_on_close: {
    for: ['http'],
    shape: flag(),
    about: 'Send DELETE for the session on close; default true.',
  },
  config: {
    for: ALL,
    shape: anyMap(),
    about: 'Passed on to the server; allowed_directories also become roots.',
  },
  roots: { for: ALL, shape: names(), about: 'Folders or file URIs offered as MCP roots.' },
  load_tools: { for: ALL, shape: flag(), about: 'Discover its tools; default true.' },
  load_prompts: { for: ALL, shape: flag(), about: 'Discover its prompts; default true.' },
  request_timeout: {
    for: ALL,
    shape: whole(1, 2_147_483, ' of seconds'),
    about: 'Seconds for one call without progress; default 60.',
  },
  max_timeout: { for: ALL, shape: seconds(), about: 'Seconds for one call in all; default 600.' },
  registry_name: {
    for: ALL,
    shape: text().check(z.regex(REGISTRY_NAME, { error: 'a registry name such as io.github.user/server' })),
    about: 'Full name in the registry; set by add.',
  },
  lifecycle: { for: STDIO, shape: choice('singleton', 'transient'), about: 'One process, or one a call.' },
  spares: { for: STDIO, shape: whole(0, 64), about: 'With transient: processes kept ready; default 0.' },
  sharing: { for: ALL, shape: choice('shared', 'per-agent'), about: 'One for all agents, or one for each.' },
  replicas: { for: ALL, shape: whole(1, 64), about: 'Processes that share the calls; default 1.' },
  start: {
    for: ALL,
    shape: choice('lazy', 'eager'),
    about: 'lazy (default): at the first call, or to read its lists when they are not known; eager: at once.',
  },
  idle_timeout: {
    for: ALL,
    shape: secondsOrOff(),
    about: 'Seconds without a call before it is stopped; off.',
  },
  restart: { for: ALL, shape: choice('on-failure', 'always', 'never'), about: 'Default on-failure.' },
  max_restarts: {
    for: ALL,
    shape: whole(0, 1000),
    about: 'Restarts in the window before quarantine; default 5, for remote servers no limit.',
  },
  restart_window: { for: ALL, shape: seconds(), about: 'Seconds; default 60.' },
  backoff: {
    for: ALL,
    shape: map({
      min: optional(seconds()),
      max: optional(seconds()),
      factor: optional(within(1, 100)),
      jitter: optional(within(0, 1)),
    }),
    about: 'Seconds between restarts; default {min: 0.5, max: 30, factor: 2, jitter: 0.2}.',
  },
  healthy_after: { for: ALL, shape: seconds(), about: 'Seconds up that count as healthy; default 30.' },
  stop: {
    for: STDIO,
    shape: map({ close: optional(secondsOrOff()), term: optional(secondsOrOff()) }),
    about: 'Seconds to wait after EOF, then after TERM; default {close: 2, term: 5}.',
  },
  ping: {
    for: ALL,
    shape: map({ interval: optional(secondsOrOff()), timeout: optional(secondsOrOff()) }),
    about: 'Seconds; default {interval: 15, timeout: 10}, 0 = off.',
  },
  tools: {
    for: ALL,
    shape: map({ allow: optional(names()), deny: optional(names()) }),
    about: 'Globs of tool names shown and hidden.',
  },
  max_message_bytes: { for: ALL, shape: whole(1024, MAX_BYTES, BYTES), about: 'Default 64 MiB.' },
  max_in_flight: { for: ALL, shape: whole(1, 10_000), about: 'Calls with the server at once; default 256.' },
  max_rss: {
    for: STDIO,
    shape: whole(1, Number.MAX_SAFE_INTEGER, BYTES),
    about: 'Memory of its process group; over it, it is restarted; off.',
  },
  result_limit: { for: ALL, shape: whole(1, MAX_BYTES), about: 'Characters of text given to an agent; off.' },
  plugin_dir: { for: STDIO, shape: text(), about: 'Folder with a plugin.json or server.json.' },
  runtime_hint: { for: STDIO, shape: choice(...RUNTIMES), about: 'Which of the runtimes of the manifest.' },
  manifest: { for: STDIO, shape: text(), about: 'Name of the manifest inside plugin_dir.' },
  enabled: { for: ALL, shape: flag(), about: 'Default true; false keeps it in the file, unused.' },
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
