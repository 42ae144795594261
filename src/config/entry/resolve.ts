import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hideInArguments } from '../../shared/secrets/hide-secrets.js';
import type { Redactor } from '../../shared/secrets/redactor.js';
import { looksSecret } from '../../shared/secrets/secret-name.js';
import { toMs, valueOr } from '../fields/defaults.js';
import { EXPANDED_FIELDS, FIELDS } from '../fields/entry-fields.js';
import { type ParsedEntry, type Report, stringMap, strings } from '../fields/parsed-entry.js';
import type { RemoteSpec, Root, ServerSpec, StdioSpec } from '../fields/spec.js';
import { urlProblem } from '../fields/url-rule.js';
import { type DataMap, isMap } from '../parse/document.js';
import type { ConfigError, Path } from '../parse/problem.js';
import { Expander, type LoadEnvironment } from '../variables/expander.js';
import { withEnvironmentNames } from './docker-arguments.js';
import { BAD_HEADER_VALUE, isHeaderValue } from './entry-rules.js';
import { buildEnvironment, type DeclaredEnvironment } from './environment.js';
import { fromFolder, type LaunchCommand } from './launch-command.js';
import { restartPolicy } from './restart-policy.js';

/** Linux rejects a longer argument or variable. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

/** Turns an entry into the spec of a server: expands variables, reads files, fills in defaults. Reports problems. */
export async function resolveEntry(
  entry: ParsedEntry,
  launch: LaunchCommand | undefined,
  loadEnvironment: LoadEnvironment,
  report: Report,
): Promise<ServerSpec> {
  const environment = await buildEnvironment(entry, launch?.plugin, loadEnvironment, report);
  const expander = new Expander(entry, loadEnvironment, environment.sources, report);
  const { fields } = entry;
  const config = isMap(fields.config) ? expander.map(fields.config, entry.at('config')) : undefined;
  const common = {
    ...commonSpec(entry),
    env: environment.values,
    config,
    roots: rootsOf(entry, config, expander, report),
  };
  if (launch === undefined) return remoteSpec(entry, common, expander, loadEnvironment, report);
  const spec = stdioSpec(entry, launch, common, environment, expander, report);
  addArgumentSecrets(loadEnvironment.redactor, spec.args);
  return spec;
}

/** Checks the variables of a broken entry, so that all its problems are reported at once. */
export async function findUnset(
  entry: ParsedEntry,
  loadEnvironment: LoadEnvironment,
  report: Report,
): Promise<void> {
  const { sources } = await buildEnvironment(entry, undefined, loadEnvironment, report);
  const expander = new Expander(entry, loadEnvironment, sources, report);
  for (const field of EXPANDED_FIELDS) {
    if (field !== 'env') expander.data(entry.fields[field] ?? null, entry.at(field));
  }
}

/** The spec of a disabled entry. Nothing in it is expanded or read. */
export function disabledSpec(entry: ParsedEntry, redactor: Redactor): ServerSpec {
  const { fields } = entry;
  // Status and inspect show the spec, and it may hold a secret in plain text.
  for (const [name, value] of Object.entries(stringMap(fields.headers))) redactor.add(name, value);
  for (const [name, value] of Object.entries(stringMap(fields.env))) {
    if (looksSecret(name)) redactor.add(name, value);
  }
  const common = {
    ...commonSpec(entry),
    env: stringMap(fields.env),
    config: isMap(fields.config) ? fields.config : undefined,
    roots: [],
  };
  if (entry.transport !== 'stdio') {
    addUrlSecrets(redactor, String(fields.url));
    const remote = { url: String(fields.url), headers: stringMap(fields.headers) };
    return { ...common, ...remote, ...remoteTimes(entry) } as RemoteSpec;
  }
  addArgumentSecrets(redactor, strings(fields.args));
  const command = String(fields.command ?? fields.plugin_dir);
  const cwd = String(fields.cwd ?? entry.context.folder);
  return { ...common, ...stdioTimes(entry), command, args: strings(fields.args), cwd };
}

/** The spec of an entry that cannot be resolved. It is shown as written and never run. */
export function misconfiguredSpec(
  entry: ParsedEntry,
  { type, problems }: ConfigError,
  redactor: Redactor,
): ServerSpec {
  const unusable = { detail: 'misconfigured' as const, type, problems };
  return { ...disabledSpec(entry, redactor), enabled: false, unusable };
}

type Common = ReturnType<typeof commonSpec> & Pick<ServerSpec, 'env' | 'config' | 'roots'>;

function commonSpec(entry: ParsedEntry) {
  const { fields, document, context } = entry;
  const ping = isMap(fields.ping) ? fields.ping : {};
  const tools = isMap(fields.tools) ? fields.tools : {};
  const requestTimeoutMs = toMs(fields.request_timeout, FIELDS.request_timeout.default);
  return {
    ...restartPolicy(entry),
    name: entry.name,
    description: fields.description as string | undefined,
    server: entry.server,
    registryName: fields.registry_name as string | undefined,
    origin: { scope: context.scope, file: document.file, ...document.position(entry.path) },
    enabled: valueOr(fields.enabled, FIELDS.enabled.default),
    loadTools: valueOr(fields.load_tools, FIELDS.load_tools.default),
    loadPrompts: valueOr(fields.load_prompts, FIELDS.load_prompts.default),
    requestTimeoutMs,
    // When only request_timeout is raised, the default total must not cut it short.
    maxTimeoutMs: Math.max(toMs(fields.max_timeout, FIELDS.max_timeout.default), requestTimeoutMs),
    sharing: valueOr(fields.sharing, FIELDS.sharing.default),
    replicas: valueOr(fields.replicas, FIELDS.replicas.default),
    start: valueOr(fields.start, FIELDS.start.default),
    idleTimeoutMs: toMs(fields.idle_timeout, FIELDS.idle_timeout.default),
    ping: {
      intervalMs: toMs(ping.interval, FIELDS.ping.default.interval),
      timeoutMs: toMs(ping.timeout, FIELDS.ping.default.timeout),
    },
    tools: {
      allow: valueOr(tools.allow, [...FIELDS.tools.default.allow]),
      deny: valueOr(tools.deny, [...FIELDS.tools.default.deny]),
    },
    maxMessageBytes: valueOr(fields.max_message_bytes, FIELDS.max_message_bytes.default.value),
    maxInFlight: valueOr(fields.max_in_flight, FIELDS.max_in_flight.default),
    resultLimit: valueOr(fields.result_limit, FIELDS.result_limit.default.value),
  };
}

function stdioTimes(entry: ParsedEntry) {
  const { fields } = entry;
  const stop = isMap(fields.stop) ? fields.stop : {};
  return {
    transport: 'stdio' as const,
    encoding: new TextDecoder(valueOr(fields.encoding, FIELDS.encoding.default)).encoding,
    startTimeoutMs: toMs(fields.start_timeout, FIELDS.start_timeout.default),
    lifecycle: valueOr(fields.lifecycle, FIELDS.lifecycle.default),
    spares: valueOr(fields.spares, FIELDS.spares.default),
    stop: {
      closeMs: toMs(stop.close, FIELDS.stop.default.close),
      termMs: toMs(stop.term, FIELDS.stop.default.term),
    },
    maxRss: valueOr(fields.max_rss, FIELDS.max_rss.default.value),
    // absent where the file does not say it: what is in a spec is a part of its identity
    ...(fields.runner == null ? {} : { runner: fields.runner as 'direct' | 'plain' }),
    ...(fields.update === 'manual' ? { update: 'manual' as const } : {}),
  };
}

function stdioSpec(
  entry: ParsedEntry,
  launch: LaunchCommand,
  common: Common,
  environment: DeclaredEnvironment,
  expander: Expander,
  report: Report,
): StdioSpec {
  const args = launch.args.map(({ text, index }) => {
    if (index === undefined) return expander.text(text, entry.at('plugin_dir'));
    return fromFolder(entry, text, expander.text(text, entry.at('args', index)));
  });
  const cwd =
    launch.cwd === undefined
      ? (launch.plugin?.folder ?? entry.context.folder)
      : resolve(entry.context.folder, expander.text(launch.cwd, entry.at('cwd')));
  const names = Object.keys(environment.values);
  if (common.config !== undefined) names.push('MCP_CONFIG');
  const spec = {
    ...common,
    ...stdioTimes(entry),
    command: launch.command,
    args: withEnvironmentNames(args, [...new Set(names)], launch.command),
    cwd,
  };
  checkSizes(entry, spec, report);
  return spec;
}

function remoteTimes(entry: ParsedEntry) {
  const { fields, transport } = entry;
  const timeoutMs = toMs(fields.timeout, FIELDS.timeout.default);
  if (transport === 'websocket') return { transport, timeoutMs };
  const sseReadTimeoutMs = toMs(fields.sse_read_timeout, FIELDS.sse_read_timeout.default);
  if (transport === 'sse') return { transport, timeoutMs, sseReadTimeoutMs };
  return {
    transport,
    timeoutMs,
    sseReadTimeoutMs,
    terminateOnClose: valueOr(fields.terminate_on_close, FIELDS.terminate_on_close.default),
  };
}

function remoteSpec(
  entry: ParsedEntry,
  common: Common,
  expander: Expander,
  loadEnvironment: LoadEnvironment,
  report: Report,
): RemoteSpec {
  const { fields, transport, document } = entry;
  const url = expander.text(String(fields.url), entry.at('url'));
  addUrlSecrets(loadEnvironment.redactor, url);
  const fault = expander.isIncomplete ? undefined : urlProblem(url, transport, entry.context.allowHttp);
  if (fault !== undefined)
    report(document.problem('MCPConfigError', entry.at('url'), fault.message, fault.fix));
  const headers = expander.map(stringMap(fields.headers), entry.at('headers'));
  for (const [name, value] of Object.entries(headers)) {
    loadEnvironment.redactor.add(name, value);
    if (isHeaderValue(value)) continue;
    const fix = 'check the variable it comes from';
    report(document.problem('MCPConfigError', entry.at('headers', name), BAD_HEADER_VALUE, fix));
  }
  return { ...common, url, headers, ...remoteTimes(entry) } as RemoteSpec;
}

/** A secret in plain text: the value of `--api-key`, a token. */
function addArgumentSecrets(redactor: Redactor, args: readonly string[]): void {
  for (const value of hideInArguments(args).values) redactor.add('args', value);
}

/** A url may hold a password, and parameters whose names suggest secrets: they may come back in errors and logs. */
export function addUrlSecrets(redactor: Redactor, url: string): void {
  if (!URL.canParse(url)) return;
  const { password, searchParams } = new URL(url);
  redactor.add('url', decodeSafely(password));
  for (const [name, value] of searchParams) if (looksSecret(name)) redactor.add(name, value);
}

/** The MCP roots of a server: `roots`, and the directories that its config allows. */
function rootsOf(
  entry: ParsedEntry,
  config: DataMap | undefined,
  expander: Expander,
  report: Report,
): Root[] {
  const given = strings(entry.fields.roots).map((text, index) => {
    const path = entry.at('roots', index);
    return { text: expander.text(text, path), path };
  });
  const allowed = strings(config?.allowed_directories).flatMap((text, index) =>
    typeof text === 'string' ? [{ text, path: entry.at('config', 'allowed_directories', index) }] : [],
  );
  const roots = new Map<string, Root>();
  for (const { text, path } of [...given, ...allowed]) {
    const root = toRoot(entry, text, path, report);
    if (root !== undefined) roots.set(root.uri, root);
  }
  return [...roots.values()];
}

function toRoot(entry: ParsedEntry, text: string, path: Path, report: Report): Root | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    if (/^file:\/\//i.test(text) && URL.canParse(text)) {
      const uri = new URL(text);
      return { uri: uri.href, name: basename(decodeSafely(uri.pathname)) || '/' };
    }
    const message = 'A root must be a folder or a file:// URI';
    report(entry.document.problem('MCPConfigError', path, message, 'write a path, or file:///…'));
    return undefined;
  }
  const folder = resolve(entry.context.folder, text);
  return { uri: pathToFileURL(folder).href, name: basename(folder) || '/' };
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function checkSizes(entry: ParsedEntry, spec: StdioSpec, report: Report): void {
  const tooLong = (text: string) => Buffer.byteLength(text) > MAX_ARGUMENT_BYTES;
  const fail = (path: Path, what: string) =>
    report(
      entry.document.problem('MCPConfigError', path, `${what} is longer than 128 KiB`, 'pass it in a file'),
    );
  if (spec.args.some(tooLong)) fail(entry.at('args'), 'An argument');
  for (const [name, value] of Object.entries(spec.env)) {
    if (tooLong(`${name}=${value}`)) fail(entry.at('env', name), 'A variable');
  }
  if (spec.config !== undefined && tooLong(`MCP_CONFIG=${JSON.stringify(spec.config)}`)) {
    fail(entry.at('config'), "'config'");
  }
}
