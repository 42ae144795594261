import { isMap } from '../config/parse/document.js';
import { importedVariableName } from '../config/variables/names.js';
import { hasReferences } from '../config/variables/variables.js';
import { isToken } from '../shared/secrets/hide-secrets.js';
import { looksSecret } from '../shared/secrets/secret-name.js';
import type { Entry } from './clients/fields.js';

/** A secret that was written in plain text: the variable that replaces it, and where in the entry it was. */
export interface Secret {
  variable: string;
  /** For example `env.GITHUB_TOKEN`. */
  at: string;
}

/** Values that are never secrets, whatever the name. */
const HARMLESS = /^(|true|false|yes|no|on|off|none|null|\d{1,5})$/i;

/** Names that describe a secret but do not hold it: `TOKEN_FILE`, `--no-auth`. */
const METADATA_NAME =
  /^(no|disable|enable|skip|allow|use)_|_(type|mode|dir|path|file|ur[il]|name|timeout|ttl|port|host|endpoint|method|provider|enabled)$/i;

/** A secret inside a longer text: headers as JSON, a connection string. */
const EMBEDDED_SECRET =
  /(?:\bbearer\s+|(?:authorization|api_?-?key|token|secret|password|passwd|pwd)["']?\s*[=:]\s*["']?)[^\s"';,&]{6,}/i;

/**
 * Replaces the plain-text secrets of entries by `${NAME}`. One extractor serves a whole import: it remembers which value
 * each name stands for, so two servers with different values for one name get two names.
 */
export class SecretExtractor {
  readonly #values = new Map<string, string>();

  extract(entry: Entry): { entry: Entry; secrets: Secret[] } {
    const secrets: Secret[] = [];
    const values: string[] = [];
    const prefix = importedVariableName(String(entry.name)).toUpperCase();
    const replace = (preferredName: string, value: string, at: string): string => {
      const variable = this.#nameFor(preferredName, prefix, value);
      values.push(value);
      secrets.push({ variable, at });
      return `\${${variable}}`;
    };
    const extracted = { ...entry };
    if (isMap(entry.env))
      extracted.env = mapPairs(entry.env, (name, value) => replaceInEnv(prefix, name, value, replace));
    if (isMap(entry.headers)) {
      extracted.headers = mapPairs(entry.headers, (name, value) =>
        replaceInHeader(prefix, name, value, replace),
      );
    }
    if (Array.isArray(entry.args))
      extracted.args = replaceInArguments(entry.args.map(String), prefix, replace);
    if (typeof entry.url === 'string') extracted.url = replaceInUrl(entry.url, prefix, 'url', replace);
    if (isMap(entry.config)) extracted.config = replaceInConfig(entry.config, 'config', replace);
    // `server` was guessed from the arguments, and the guess may have picked the secret.
    if (values.some((value) => String(entry.server).includes(value))) extracted.server = entry.name;
    return { entry: extracted, secrets };
  }

  #nameFor(preferredName: string, prefix: string, value: string): string {
    const own = preferredName.startsWith(`${prefix}_`) ? preferredName : `${prefix}_${preferredName}`;
    for (const name of [preferredName, own]) {
      if ((this.#values.get(name) ?? value) !== value) continue;
      this.#values.set(name, value);
      return name;
    }
    return this.#nameFor(`${preferredName}_2`, prefix, value);
  }
}

type Replace = (preferredName: string, value: string, at: string) => string;

function replaceInEnv(prefix: string, name: string, value: string, replace: Replace): string {
  const at = `env.${name}`;
  if (isSecret(name, value) || containsSecret(value)) return replace(importedVariableName(name), value, at);
  return replaceInUrl(value, prefix, at, replace);
}

function replaceInHeader(
  prefix: string,
  name: string,
  value: string,
  replace: Replace,
  at = `headers.${name}`,
): string {
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token)\s+)?(.*)$/is.exec(value) ?? [];
  // A bearer token is a secret under any header name.
  if (!isSecret(/^bearer/i.test(scheme) ? 'token' : name, rest)) return value;
  const preferredName = `${prefix}_${scheme === '' ? importedVariableName(name).toUpperCase() : 'TOKEN'}`;
  return scheme + replace(preferredName, rest, at);
}

/** `--api-key X`, `--api-key=X`, `API_KEY=X`, `--header 'X-Key: X'`, and values that look like a token. */
function replaceInArguments(args: readonly string[], prefix: string, replace: Replace): string[] {
  return args.map((arg, index) => {
    const at = `args[${index}]`;
    const [, head = '', name = '', value = ''] = /^((?:--?)?([\w.-]+)=)(.*)$/s.exec(arg) ?? [];
    if (head !== '' && isSecret(name, value))
      return head + replace(preferredNameOf(prefix, name, head), value, at);
    const text = head === '' ? arg : value;
    const [, label, header = '', rest = ''] = /^(([\w-]+):\s*)(?!\/\/)(.+)$/s.exec(text) ?? [];
    if (label !== undefined) {
      const safe = label + replaceInHeader(prefix, header, rest, replace, at);
      if (safe !== text) return head + safe;
    }
    if (containsSecret(text))
      return head + replace(`${prefix}_${importedVariableName(name || 'argument').toUpperCase()}`, text, at);
    if (head !== '') return head + replaceInUrl(value, prefix, at, replace);
    const flag = /^--?([\w.-]+)$/.exec(args[index - 1] ?? '')?.[1] ?? '';
    const isValue = !arg.startsWith('-') && isSecret(flag, arg);
    if (isValue) return replace(preferredNameOf(prefix, flag === '' ? 'token' : flag, '-'), arg, at);
    return replaceInUrl(arg, prefix, at, replace);
  });
}

/** A flag is only meaningful for its server, so its variable gets the server's name as prefix; `NAME=value` does not. */
function preferredNameOf(prefix: string, name: string, head: string): string {
  const variable = importedVariableName(name).toUpperCase();
  return head.startsWith('-') ? `${prefix}_${variable.replace(/^_+/, '')}` : variable;
}

/** In a url: the password, a token as user name, and query parameters with a secret name. Other texts stay as they are. */
function replaceInUrl(url: string, prefix: string, at: string, replace: Replace): string {
  if (!/^[\w+.-]+:\/\//.test(url)) return url;
  return url
    .replace(/^([\w+.-]+:\/\/)([^/?#:@]+)@/, (whole, head: string, value: string) =>
      isToken(value) ? `${head}${replace(`${prefix}_TOKEN`, value, at)}@` : whole,
    )
    .replace(/^([\w+.-]+:\/\/[^/?#:@]*:)([^/?#@]+)@/, (whole, head: string, value: string) =>
      isSecret('password', value) ? `${head}${replace(`${prefix}_PASSWORD`, value, at)}@` : whole,
    )
    .replaceAll(/([?&]([\w.-]+)=)([^&#]*)/g, (whole, head: string, name: string, value: string) =>
      isSecret(name, value) ? head + replace(preferredNameOf(prefix, name, '-'), value, at) : whole,
    );
}

/** The `config` map, at any depth. */
function replaceInConfig(
  map: Record<string, unknown>,
  at: string,
  replace: Replace,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [
      name,
      replaceInSetting(name, value, `${at}.${name}`, replace),
    ]),
  );
}

function replaceInSetting(name: string, value: unknown, at: string, replace: Replace): unknown {
  if (isMap(value)) return replaceInConfig(value, at, replace);
  if (Array.isArray(value))
    return value.map((item, index) => replaceInSetting(name, item, `${at}[${index}]`, replace));
  const hides = typeof value === 'string' && (isSecret(name, value) || containsSecret(value));
  return hides ? replace(importedVariableName(name).toUpperCase(), value, at) : value;
}

function isSecret(name: string, value: string): boolean {
  if (HARMLESS.test(value.trim()) || hasReferences(value)) return false;
  if (isToken(value)) return true;
  const plain = name.replaceAll(/[-.]/g, '_');
  return looksSecret(name) && !METADATA_NAME.test(plain);
}

/** Urls are excluded: `replaceInUrl` finds their secrets. */
function containsSecret(text: string): boolean {
  return EMBEDDED_SECRET.test(text) && !hasReferences(text) && !/^[\w+.-]+:\/\//.test(text);
}

function mapPairs(
  map: Record<string, unknown>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(name, String(value))]));
}
