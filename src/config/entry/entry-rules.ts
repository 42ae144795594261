import { intensityUnreachable } from '../../machines/policy.js';
import { looksSecret } from '../../shared/secret-name.js';
import { isMap } from '../parse/document.js';
import type { Path } from '../parse/problem.js';
import { FIELDS, type FieldName } from '../schema/fields.js';
import { quoteName } from '../schema/shape-problems.js';
import { urlFault } from '../schema/url-rule.js';
import { hasReferences, parseReferences } from '../variables/variables.js';
import { type ParsedEntry, type Report, stringMap } from './parsed-entry.js';
import { restartPolicy } from './restart-policy.js';

const BUILT_IN_COMMANDS = ['npx', 'uvx', 'docker'] as const;

/** The rules that look at more than one field, or beyond the entry. Nothing is expanded and no file is read. */
export function checkEntry(draft: ParsedEntry, report: Report, warn: Report): void {
  const { document } = draft;
  const fail = (path: Path, message: string, fix: string, what: 'key' | 'value' = 'value') =>
    report(document.problem('MCPConfigError', path, message, fix, what));
  checkTransport(draft, fail);
  checkCommand(draft, fail);
  checkCombinations(draft, fail);
  checkNames(draft, fail);
  checkReferences(draft, report, warn);
  const { url } = draft.fields;
  if (typeof url === 'string' && draft.transport !== 'stdio' && !hasReferences(url)) {
    const fault = urlFault(url, draft.transport, draft.context.allowHttp);
    if (fault !== undefined) fail(draft.at('url'), fault.message, fault.fix);
  }
  const { encoding } = draft.fields;
  if (typeof encoding === 'string' && !isEncoding(encoding)) {
    fail(
      draft.at('encoding'),
      "'encoding' is not a known encoding",
      'use a WHATWG label such as utf-8 or shift_jis',
    );
  }
}

type Fail = (path: Path, message: string, fix: string, what?: 'key' | 'value') => void;

function checkTransport(draft: ParsedEntry, fail: Fail): void {
  const { fields, transport, path, suspects } = draft;
  if (suspects.has('transport')) return;
  const isStdio = transport === 'stdio';
  const lacksTransport = isStdio && fields.transport === undefined && fields.url !== undefined;
  const lacksCommand = fields.command === undefined && fields.plugin_dir === undefined;
  if (isStdio && lacksCommand && !suspects.has('command') && !suspects.has('plugin_dir')) {
    const guess = typeof fields.url === 'string' && /^wss?:/.test(fields.url) ? 'websocket' : 'http';
    const fix = lacksTransport
      ? `a url is given: add 'transport: ${guess}'`
      : "add 'command: npx' (or uvx, docker) and its 'args'";
    fail(path, "'command' is required for stdio transport", fix);
  }
  if (!isStdio && fields.url === undefined && !suspects.has('url')) {
    fail(path, `'url' is required for ${transport} transport`, "add 'url: https://…'");
  }
  for (const field of Object.keys(fields) as FieldName[]) {
    const belongs: readonly string[] = FIELDS[field].for;
    if (belongs.includes(transport) || (lacksTransport && fields.command === undefined)) continue;
    const message = `'${field}' does not belong to ${transport} transport`;
    fail(draft.at(field), message, `remove it, or set transport to ${belongs.join(' or ')}`, 'key');
  }
}

function checkCommand(draft: ParsedEntry, fail: Fail): void {
  const { fields, context } = draft;
  const command = fields.command;
  if (typeof command !== 'string' || draft.transport !== 'stdio') return;
  const allowed = [...BUILT_IN_COMMANDS, ...context.allowedCommands];
  // A plugin's own command counts as allowed where the user put the plugin there.
  if (allowed.includes(command) || (fields.plugin_dir !== undefined && context.isOwn)) return;
  const message = `Invalid command ${quoteName(command)}. Supported commands: ${[...new Set(allowed)].join(', ')}`;
  const near = draft.document.didYouMean(command, allowed);
  fail(
    draft.at('command'),
    message,
    near || "add it to 'security.allowed_commands' in config.yaml, if you trust it",
  );
}

function checkCombinations(draft: ParsedEntry, fail: Fail): void {
  const { fields } = draft;
  const number = (field: FieldName) => (typeof fields[field] === 'number' ? fields[field] : undefined);
  if ((number('spares') ?? 0) > 0 && fields.lifecycle !== 'transient') {
    fail(
      draft.at('spares'),
      "'spares' needs lifecycle: transient",
      "add 'lifecycle: transient', or remove it",
      'key',
    );
  }
  if ((number('replicas') ?? 1) > 1 && fields.lifecycle === 'transient') {
    const message = "'replicas' makes no sense with lifecycle: transient";
    fail(
      draft.at('replicas'),
      message,
      "remove it: a transient server has a process per call; see 'spares'",
      'key',
    );
  }
  const most = number('max_timeout');
  if (most !== undefined && most < (number('request_timeout') ?? 60)) {
    const message = "'max_timeout' must not be less than 'request_timeout'";
    fail(draft.at('max_timeout'), message, 'raise it, or lower request_timeout (60 where it is not set)');
  }
  for (const field of ['runtime_hint', 'manifest'] as const) {
    if (fields[field] === undefined || fields.plugin_dir !== undefined) continue;
    fail(draft.at(field), `'${field}' needs 'plugin_dir'`, 'add plugin_dir, or remove it', 'key');
  }
  const policy = restartPolicy(draft);
  if (policy.backoff.maxMs < policy.backoff.minMs) {
    const fix = `set min to at most ${policy.backoff.maxMs / 1000}, or raise max`;
    fail(draft.at('backoff'), "'backoff.max' must not be less than 'backoff.min'", fix);
    return;
  }
  const unreachable = intensityUnreachable(policy);
  if (unreachable === undefined) return;
  const field = (['max_restarts', 'restart_window', 'backoff'] as const).find(
    (name) => fields[name] !== undefined,
  );
  const fix = 'raise restart_window, or lower max_restarts or backoff';
  fail(field === undefined ? draft.path : draft.at(field), unreachable, fix);
}

/** Names that change how the child's own runtime finds code: a project may not set them. */
const REFUSED_NAMES = /^(PATH|NODE_OPTIONS|NODE_PATH|LD_.*|DYLD_.*|PYTHON.*|UV_PYTHON|BASH_ENV)$/;
/** By which npm is told the same; it reads them in any spelling. */
const REFUSED_OF_NPM = /^npm_config_(node[_-]options|script[_-]shell|shell|userconfig|globalconfig|prefix)$/i;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Why a project's file may not set this variable, or nothing. */
export function refusedName(name: string, isOwn: boolean): string | undefined {
  const isRefused = REFUSED_NAMES.test(name) || REFUSED_OF_NPM.test(name);
  return !isOwn && isRefused ? `'${name}' may not be set from a project's file` : undefined;
}

export function isVariableName(name: string): boolean {
  return name !== '' && !/[=\u0000-\u001f\u007f]/.test(name);
}

function checkNames(draft: ParsedEntry, fail: Fail): void {
  for (const name of Object.keys(stringMap(draft.fields.env))) {
    const path = draft.at('env', name);
    if (!isVariableName(name))
      fail(path, 'This is not a name for a variable', 'use letters, digits and _', 'key');
    const refusal = refusedName(name, draft.context.isOwn);
    if (refusal !== undefined)
      fail(path, refusal, 'remove it, or put the entry into the global config', 'key');
  }
  for (const [name, value] of Object.entries(stringMap(draft.fields.headers))) {
    const path = draft.at('headers', name);
    if (!HEADER_NAME.test(name))
      fail(path, 'This is not a name for a header', 'use letters, digits and -', 'key');
    if (!isHeaderValue(value)) fail(path, BAD_HEADER_VALUE, 'write it on one line, in plain letters');
  }
}

export const BAD_HEADER_VALUE = 'A header value must not hold line breaks or characters beyond Latin-1';

/** What HTTP can carry; Node refuses anything else when it connects. */
export function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value);
}

/** The fields in which variables are looked for. */
export const EXPANDED = ['env', 'headers', 'url', 'args', 'cwd', 'config', 'roots'] as const;

/** Malformed references are found before anything is expanded, so that a file that was not allowed shows them too. */
function checkReferences(draft: ParsedEntry, report: Report, warn: Report): void {
  for (const field of EXPANDED) {
    eachString(draft.fields[field], draft.at(field), (text, path) => {
      const parts = parseReferences(text);
      if (parts.some(({ kind }) => kind === 'malformed')) {
        const fix = 'write ${NAME}, ${NAME:-default}, or $$ for a dollar sign';
        report(draft.document.problem('ConfigError', path, 'A variable reference is malformed', fix));
      }
      if (field !== 'args') return;
      for (const name of new Set(parts.map((part) => (part.kind === 'variable' ? part.name : '')))) {
        if (!looksSecret(name)) continue;
        const message = `'${name}' in args is visible to every user of this machine (ps)`;
        const fix = "pass it in 'env' if the server reads it there";
        warn(draft.document.problem('MCPConfigError', path, message, fix));
      }
    });
  }
}

export function eachString(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === 'string') visit(value, path);
  else if (Array.isArray(value))
    value.forEach((item, index) => void eachString(item, [...path, index], visit));
  else if (isMap(value))
    for (const [key, item] of Object.entries(value)) eachString(item, [...path, key], visit);
}

function isEncoding(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}
