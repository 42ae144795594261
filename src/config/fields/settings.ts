import * as z from 'zod/mini';
import { LOG_THRESHOLDS } from '../../shared/mcp/log-levels.js';
import { DEFAULT_SEPARATOR, SEPARATORS } from '../../shared/mcp/separators.js';
import { DEFAULT_SURFACE } from '../../shared/mcp/surface.js';
import { type DataMap, isMap, type SourceDocument } from '../parse/document.js';
import type { Problem } from '../parse/problem.js';
import { type Default, toMs, valueOr } from './defaults.js';
import { shapeProblems } from './shape-problems.js';
import { choice, map, names, optional, secondsOrOff, text, whole } from './shapes.js';
import type { Settings } from './spec.js';
import { readSurface, surfaceShapes } from './surface.js';
import { isLoopback } from './url-rule.js';

export const DEFAULT_REGISTRY = 'https://registry.modelcontextprotocol.io/v0.1';
const BYTES = ' of bytes';

interface Setting {
  shape: z.ZodMiniType;
  about: string;
  default: Default;
}

/** Every key of `daemon:`, `search:` and `security:`, with its description and default for editors and docs. */
export const SETTINGS = {
  daemon: {
    http: {
      shape: map({ listen: text(), token: optional(choice('auto', 'none')) }),
      about:
        'The daemon also listens on this loopback address: {listen: "127.0.0.1:PORT", token: auto}. token: none lets clients connect without a token.',
      default: 'off',
    },
    registry: {
      shape: text(),
      about: 'Base url of the registry for search, show and add.',
      default: DEFAULT_REGISTRY,
    },
    log_level: {
      shape: choice(...LOG_THRESHOLDS),
      about: 'Lowest level that the daemon logs.',
      default: 'info',
    },
    log_max_bytes: {
      shape: whole(4096, 2 ** 40, BYTES),
      about: 'Size in bytes at which a log file or the audit file is rotated. The daemon keeps 3 of each.',
      default: { value: 10 * 1024 * 1024, shown: '10 MiB' },
    },
    list_wait: {
      shape: secondsOrOff('a number of seconds, 0 for not at all'),
      about:
        'Seconds that a list, or the search for a name or URI, waits for servers whose lists are not known yet.',
      default: 2,
    },
    surface: {
      shape: map({ separator: optional(choice(...SEPARATORS)), ...surfaceShapes() }),
      about:
        'What agents see. mode: all lists every tool; search lists four tools that find, describe and call the others; auto searches where the definitions of all tools have more than above_tokens tokens. always: globs of server.tool that are listed in search mode too. result_limit: characters of text in a result in search mode, 0 for no limit. separator: _ writes the name of a tool as server_tool; it is one of __ _ - and . (a dot is refused by the providers of most models).',
      default: {
        separator: DEFAULT_SEPARATOR,
        mode: DEFAULT_SURFACE.mode,
        above_tokens: DEFAULT_SURFACE.aboveTokens,
        always: [],
        result_limit: DEFAULT_SURFACE.resultLimit,
      },
    },
    runner: {
      shape: choice('direct', 'plain'),
      about:
        'direct: toolherd installs the packages of npx entries once and starts them without npx. plain: npx is started as written. See docs/PACKAGES.md.',
      default: 'direct',
    },
    update_check: {
      shape: secondsOrOff('a number of seconds, 0 for never'),
      about:
        'Seconds after which toolherd asks npm again, in the background, whether a package that it installed has a newer version.',
      default: 86_400,
    },
    max_starting: {
      shape: whole(1, 1000),
      about: 'Servers that may start at the same time.',
      default: { value: 0, shown: 'twice the number of cores' },
    },
    max_rss: {
      shape: whole(1, Number.MAX_SAFE_INTEGER, BYTES),
      about: 'Bytes of memory of all servers together above which the daemon stops idle ones.',
      default: { value: 0, shown: 'no limit' },
    },
  },
  search: {
    embeddings: {
      shape: map({ url: text(), model: optional(text()), key: optional(text()) }),
      about:
        'A service that turns texts into vectors, by the API of OpenAI (POST URL/embeddings): {url, model, key}. A search then ranks tools by meaning too. It sends queries and the names, titles and descriptions of tools there. url, model and key may hold variables; key is sent as a bearer token. See docs/SEARCH.md.',
      default: 'off',
    },
  },
  security: {
    allowed_commands: {
      shape: names(),
      about: 'Commands that entries may run besides npx, uvx and docker.',
      default: [],
    },
    allow_http: {
      shape: names(),
      about: 'Hosts besides localhost that may be reached over plain http or ws.',
      default: [],
    },
    trust: {
      shape: choice('ask', 'all'),
      about: 'ask: an agent file is used only after toolherd allow. all: every agent file is used.',
      default: 'ask',
    },
    pin: {
      shape: choice('off', 'warn', 'enforce'),
      about:
        'What happens to a tool whose definition changed since it was first seen. off: nothing. warn: it is reported. enforce: it is also blocked.',
      default: 'warn',
    },
    sampling: {
      shape: choice('ask-agent', 'deny'),
      about: "ask-agent: a server's sampling requests go to the agent. deny: they are rejected.",
      default: 'ask-agent',
    },
    elicitation: {
      shape: choice('ask-agent', 'deny'),
      about: "ask-agent: a server's elicitation requests go to the agent. deny: they are rejected.",
      default: 'ask-agent',
    },
    install_scripts: {
      shape: choice('allow', 'deny'),
      about:
        'Whether packages that toolherd installs for npx entries may run install scripts. deny: npm gets --ignore-scripts.',
      default: 'allow',
    },
  },
} as const satisfies Record<string, Record<string, Setting>>;

export const CONFIG_KEYS = [
  'version',
  'mcp_servers',
  'herds',
  'cluster',
  'profiles',
  'daemon',
  'search',
  'security',
] as const;

const version = z.union([z.literal('1.0'), z.literal(1)], { error: '"1.0"' });

export type Section = keyof typeof SETTINGS;

/** One section as a strict map of optional values; null counts as absent. */
export function sectionShape(section: Section): z.ZodMiniType {
  const shapes = Object.entries(SETTINGS[section]).map(([key, { shape }]) => [
    key,
    optional(z.nullable(shape)),
  ]);
  return map(Object.fromEntries(shapes));
}

export function versionShape(): z.ZodMiniType {
  return version;
}

/** Reads config.yaml except its servers. */
export function readSettings(document: SourceDocument): { settings: Settings; problems: Problem[] } {
  const top = isMap(document.value) ? document.value : {};
  const problems: Problem[] = [];
  // Valid keys still count: a wrong log level must not make every allowed command an error too.
  const check = (key: string, schema: z.ZodMiniType, table: Record<string, { about: string }>): DataMap => {
    const value = top[key] ?? null;
    if (value === null) return {};
    const about = (field: string) => (Object.hasOwn(table, field) ? table[field]?.about : undefined);
    const wanted = { type: 'ConfigError' as const, schema, path: [key], known: Object.keys(table), about };
    const found = shapeProblems(document, value, wanted);
    problems.push(...found.map(({ problem }) => problem));
    const wrong = new Set(found.map(({ inner }) => inner[0]));
    return isMap(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.has(name))) : {};
  };
  check('version', versionShape(), {});
  const daemon = check('daemon', sectionShape('daemon'), SETTINGS.daemon);
  const search = check('search', sectionShape('search'), SETTINGS.search);
  const security = check('security', sectionShape('security'), SETTINGS.security);
  const http = readListen(document, daemon, problems);
  checkRegistry(document, daemon, problems);
  return { settings: fill(daemon, search, security, http), problems };
}

export function defaultSettings(): Settings {
  return fill({}, {}, {}, undefined);
}

function fill(
  daemon: DataMap,
  search: DataMap,
  security: DataMap,
  http: Settings['daemon']['http'],
): Settings {
  const { daemon: d, security: s } = SETTINGS;
  return {
    daemon: {
      http,
      registry: valueOr(daemon.registry, d.registry.default),
      logLevel: valueOr(daemon.log_level, d.log_level.default),
      logMaxBytes: valueOr(daemon.log_max_bytes, d.log_max_bytes.default.value),
      listWaitMs: toMs(daemon.list_wait, d.list_wait.default),
      surface: {
        separator: valueOr(asMap(daemon.surface).separator, d.surface.default.separator),
        ...DEFAULT_SURFACE,
        ...readSurface(asMap(daemon.surface)),
      },
      runner: valueOr(daemon.runner, d.runner.default),
      updateCheckMs: toMs(daemon.update_check, d.update_check.default),
      maxStarting: valueOr(daemon.max_starting, d.max_starting.default.value),
      maxRss: valueOr(daemon.max_rss, d.max_rss.default.value),
    },
    search: { embeddings: readEmbeddings(search.embeddings) },
    security: {
      allowedCommands: valueOr(security.allowed_commands, [...s.allowed_commands.default]),
      allowHttp: valueOr(security.allow_http, [...s.allow_http.default]),
      trust: valueOr(security.trust, s.trust.default),
      pin: valueOr(security.pin, s.pin.default),
      sampling: valueOr(security.sampling, s.sampling.default),
      elicitation: valueOr(security.elicitation, s.elicitation.default),
      installScripts: valueOr(security.install_scripts, s.install_scripts.default),
    },
    // the loader reads it
    cluster: undefined,
  };
}

/** As it is written: the loader expands its variables. */
function readEmbeddings(given: unknown): Settings['search']['embeddings'] {
  if (!isMap(given)) return undefined;
  const { url, model, key } = given as Record<string, string | null | undefined>;
  return { url: url ?? '', model: model ?? undefined, key: key ?? undefined };
}

function asMap(value: unknown): DataMap {
  return isMap(value) ? value : {};
}

function readListen(
  document: SourceDocument,
  daemon: DataMap,
  problems: Problem[],
): Settings['daemon']['http'] {
  const http = daemon.http;
  if (!isMap(http)) return undefined;
  const listen = /^(\[[^\]]*\]|[^:[\]]+):(\d{1,5})$/.exec(String(http.listen));
  const port = Number(listen?.[2]);
  const host = (listen?.[1] ?? '').replaceAll(/[[\]]/g, '');
  if (listen === null || port > 65_535 || !isLoopback(host)) {
    const fix = 'write 127.0.0.1:PORT, [::1]:PORT or localhost:PORT';
    const message = "'daemon.http.listen' must be a loopback address with a port";
    problems.push(document.problem('ConfigError', ['daemon', 'http', 'listen'], message, fix));
    return undefined;
  }
  return { host, port, token: http.token === 'none' ? 'none' : 'auto' };
}

/** https, or http to this machine. */
export function isRegistryUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

function checkRegistry(document: SourceDocument, daemon: DataMap, problems: Problem[]): void {
  const registry = daemon.registry;
  if (typeof registry !== 'string') return;
  if (isRegistryUrl(registry)) return;
  const message = "'daemon.registry' must use https:// (or http:// for localhost)";
  problems.push(
    document.problem('ConfigError', ['daemon', 'registry'], message, `for example ${DEFAULT_REGISTRY}`),
  );
}
