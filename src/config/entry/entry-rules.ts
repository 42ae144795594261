import { intensityUnreachable } from '../../machines/restart/restart-policy.js';
import { looksSecret } from '../../shared/secrets/secret-name.js';
import { BUILT_IN_COMMANDS, EXPANDED_FIELDS, FIELDS, type FieldName } from '../fields/entry-fields.js';
import { type ParsedEntry, type Report, stringMap } from '../fields/parsed-entry.js';
import { quoteName } from '../fields/shape-problems.js';
import { urlProblem } from '../fields/url-rule.js';
import { eachString, type SourceDocument } from '../parse/document.js';
import type { Path } from '../parse/problem.js';
import { hasReferences, type Part, parseReferences } from '../variables/variables.js';
import { refusedName } from './refused-names.js';
import { restartPolicy } from './restart-policy.js';

/** Checks the rules that concern several fields or other files' settings. It expands nothing and reads no file. */
export function checkEntry(entry: ParsedEntry, report: Report, warn: Report): void {
  const { document } = entry;
  const fail = (path: Path, message: string, fix: string, what: 'key' | 'value' = 'value') =>
    report(document.problem('MCPConfigError', path, message, fix, what));
  checkTransport(entry, fail);
  checkCommand(entry, fail);
  checkCombinations(entry, fail);
  checkCluster(entry, fail);
  checkNames(entry, fail);
  checkReferences(entry, report, warn);
  const { url } = entry.fields;
  if (typeof url === 'string' && entry.transport !== 'stdio' && !hasReferences(url)) {
    const fault = urlProblem(url, entry.transport, entry.context.allowHttp);
    if (fault !== undefined) fail(entry.at('url'), fault.message, fault.fix);
  }
  const { encoding } = entry.fields;
  if (typeof encoding === 'string' && !isEncoding(encoding)) {
    fail(
      entry.at('encoding'),
      "'encoding' is not a known encoding",
      'use a WHATWG label such as utf-8 or shift_jis',
    );
  }
}

type Fail = (path: Path, message: string, fix: string, what?: 'key' | 'value') => void;

function checkTransport(entry: ParsedEntry, fail: Fail): void {
  const { fields, transport, path, fieldsInError } = entry;
  if (fieldsInError.has('transport')) return;
  const isStdio = transport === 'stdio';
  const lacksTransport = isStdio && fields.transport === undefined && fields.url !== undefined;
  const lacksCommand = fields.command === undefined && fields.plugin_dir === undefined;
  if (isStdio && lacksCommand && !fieldsInError.has('command') && !fieldsInError.has('plugin_dir')) {
    const guess = typeof fields.url === 'string' && /^wss?:/.test(fields.url) ? 'websocket' : 'http';
    const fix = lacksTransport
      ? `a url is given: add 'transport: ${guess}'`
      : "add 'command: npx' (or uvx, docker) and its 'args'";
    fail(path, "'command' is required for stdio transport", fix);
  }
  if (!isStdio && fields.url === undefined && !fieldsInError.has('url')) {
    const scheme = transport === 'websocket' ? 'wss' : 'https';
    fail(path, `'url' is required for ${transport} transport`, `add 'url: ${scheme}://…'`);
  }
  for (const field of Object.keys(fields) as FieldName[]) {
    const belongs: readonly string[] = FIELDS[field].for;
    if (belongs.includes(transport) || (lacksTransport && fields.command === undefined)) continue;
    const message = `'${field}' does not belong to ${transport} transport`;
    fail(entry.at(field), message, `remove it, or set transport to ${belongs.join(' or ')}`, 'key');
  }
}

function checkCommand(entry: ParsedEntry, fail: Fail): void {
  const { fields, context } = entry;
  const command = fields.command;
  if (typeof command !== 'string' || entry.transport !== 'stdio') return;
  const allowed = [...BUILT_IN_COMMANDS, ...context.allowedCommands];
  // The command of a plugin counts as allowed in the user's own files.
  if (allowed.includes(command) || (fields.plugin_dir !== undefined && context.isUserOwned)) return;
  const message = `Invalid command ${quoteName(command)}. Supported commands: ${[...new Set(allowed)].join(', ')}`;
  const near = entry.document.didYouMean(command, allowed);
  fail(
    entry.at('command'),
    message,
    near || "add it to 'security.allowed_commands' in config.yaml, if you trust it",
  );
}

function checkCombinations(entry: ParsedEntry, fail: Fail): void {
  const { fields } = entry;
  const number = (field: FieldName) => (typeof fields[field] === 'number' ? fields[field] : undefined);
  if ((number('spares') ?? FIELDS.spares.default) > 0 && fields.lifecycle !== 'transient') {
    fail(
      entry.at('spares'),
      "'spares' needs lifecycle: transient",
      "add 'lifecycle: transient', or remove it",
      'key',
    );
  }
  if ((number('replicas') ?? FIELDS.replicas.default) > 1 && fields.lifecycle === 'transient') {
    const message = "'replicas' cannot be combined with lifecycle: transient";
    fail(
      entry.at('replicas'),
      message,
      "remove it: a transient server has a process per call; see 'spares'",
      'key',
    );
  }
  const most = number('max_timeout');
  const unset = FIELDS.request_timeout.default;
  if (most !== undefined && most < (number('request_timeout') ?? unset)) {
    const message = "'max_timeout' must not be less than 'request_timeout'";
    fail(
      entry.at('max_timeout'),
      message,
      `raise it, or lower request_timeout (${unset} where it is not set)`,
    );
  }
  for (const field of ['runtime_hint', 'manifest'] as const) {
    if (fields[field] === undefined || fields.plugin_dir !== undefined) continue;
    fail(entry.at(field), `'${field}' needs 'plugin_dir'`, 'add plugin_dir, or remove it', 'key');
  }
  const policy = restartPolicy(entry);
  if (policy.backoff.maxMs < policy.backoff.minMs) {
    const fix = `set min to at most ${policy.backoff.maxMs / 1000}, or raise max`;
    fail(entry.at('backoff'), "'backoff.max' must not be less than 'backoff.min'", fix);
    return;
  }
  const unreachable = intensityUnreachable(policy);
  if (unreachable === undefined) return;
  const field = (['max_restarts', 'restart_window', 'backoff'] as const).find(
    (name) => fields[name] !== undefined,
  );
  const fix = 'raise restart_window, or lower max_restarts or backoff';
  fail(field === undefined ? entry.path : entry.at(field), unreachable, fix);
}

/** Other nodes see and start what the user's own file says, and only servers that all agents share. */
function checkCluster({ fields, context, at }: ParsedEntry, fail: Fail): void {
  for (const field of ['place', 'cluster'] as const) {
    if (fields[field] === undefined) continue;
    if (context.scope !== 'global') {
      const message = `'${field}' belongs to entries of config.yaml: nodes of a cluster see only those`;
      fail(at(field), message, 'remove it, or move the entry to your config.yaml', 'key');
    } else if ((fields.sharing ?? 'shared') !== 'shared' && fields[field] !== false) {
      fail(at(field), `'${field}' needs sharing: shared`, 'remove one of the two', 'key');
    }
  }
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function isEnvironmentName(name: string): boolean {
  return name !== '' && !/[=\u0000-\u001f\u007f]/.test(name);
}

function checkNames(entry: ParsedEntry, fail: Fail): void {
  for (const name of Object.keys(stringMap(entry.fields.env))) {
    const path = entry.at('env', name);
    if (!isEnvironmentName(name))
      fail(path, 'This is not a valid variable name', 'use letters, digits and _', 'key');
    const refusal = refusedName(name, entry.context.isUserOwned);
    if (refusal !== undefined)
      fail(path, refusal, 'remove it, or put the entry into the global config', 'key');
  }
  for (const [name, value] of Object.entries(stringMap(entry.fields.headers))) {
    const path = entry.at('headers', name);
    if (!HEADER_NAME.test(name))
      fail(path, 'This is not a valid header name', 'use letters, digits and -', 'key');
    if (!isHeaderValue(value)) fail(path, BAD_HEADER_VALUE, 'write it on one line, in plain letters');
  }
}

export const BAD_HEADER_VALUE = 'A header value must not hold line breaks or characters beyond Latin-1';

/** Whether HTTP can carry the value; Node rejects any other when it connects. */
export function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value);
}

export const MALFORMED_REFERENCE = 'A variable reference is malformed';
export const HOW_TO_REFER = 'write ${NAME}, ${NAME:-default}, or $$ for a dollar sign';

/** Whether a text has a `${` that is no reference to a variable. */
export function isMalformed(parts: readonly Part[]): boolean {
  return parts.some(({ kind }) => kind === 'malformed');
}

/** Malformed references are reported before expansion, so that a file that is not allowed yet shows them too. */
function checkReferences(entry: ParsedEntry, report: Report, warn: Report): void {
  for (const field of EXPANDED_FIELDS) {
    eachString(entry.fields[field], entry.at(field), (text, path) => {
      const parts = parseReferences(text);
      if (isMalformed(parts))
        report(entry.document.problem('ConfigError', path, MALFORMED_REFERENCE, HOW_TO_REFER));
      if (field !== 'args') return;
      for (const name of new Set(parts.map((part) => (part.kind === 'variable' ? part.name : '')))) {
        if (!looksSecret(name)) continue;
        const message = `'${name}' in args is visible to every user of this machine (ps)`;
        const fix = "pass it in 'env' if the server reads it there";
        warn(entry.document.problem('MCPConfigError', path, message, fix));
      }
    });
  }
}

function isEncoding(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

/** A memory limit that toolherd cannot enforce would be a false promise: memory is measured on Linux only. */
export function warnUnmeasured(document: SourceDocument, path: Path, warn: Report): void {
  if (process.platform === 'linux') return;
  const message = `'max_rss' has no effect here: memory is measured on Linux only, not on ${process.platform}`;
  const fix = 'remove it, or limit the memory with the means of the operating system';
  warn(document.problem('ConfigError', path, message, fix));
}
