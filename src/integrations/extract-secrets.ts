import { isMap } from '../config/parse/document.js';
import { hasReferences } from '../config/variables/variables.js';
import { isToken } from '../shared/hide-secrets.js';
import { looksSecret } from '../shared/secret-name.js';
import type { Entry } from './programs/fields.js';
import { variableName } from './programs/references.js';

/** A secret that stood in the clear: which variable is to hold it, and where in the entry it stands. */
export interface Secret {
  variable: string;
  /** For instance `env.GITHUB_TOKEN`. */
  at: string;
}

/** Values that nobody keeps secret, whatever their name. */
const HARMLESS = /^(|true|false|yes|no|on|off|none|null|\d{1,5})$/i;

/** Names that speak of a secret without being its name: `TOKEN_FILE`, `--no-auth`. */
const ABOUT_ONE =
  /^(no|disable|enable|skip|allow|use)_|_(type|mode|dir|path|file|ur[il]|name|timeout|ttl|port|host|endpoint|method|provider|enabled)$/i;

/** A secret in the middle of a text: headers as JSON, a connection string. */
const WITHIN =
  /(?:\bbearer\s+|(?:authorization|api_?-?key|token|secret|password|passwd|pwd)["']?\s*[=:]\s*["']?)[^\s"';,&]{6,}/i;

/**
 * Takes the secrets of an entry out: what stood in the clear becomes `${NAME}`. One hand holds the names of a whole
 * import, so that two servers with different values for one name do not end up with the same.
 */
export class SecretExtractor {
  readonly #values = new Map<string, string>();

  take(entry: Entry): { entry: Entry; secrets: Secret[] } {
    const secrets: Secret[] = [];
    const values: string[] = [];
    const prefix = variableName(String(entry.name)).toUpperCase();
    const out = (wish: string, value: string, at: string): string => {
      const variable = this.#nameFor(wish, prefix, value);
      values.push(value);
      secrets.push({ variable, at });
      return `\${${variable}}`;
    };
    const taken = { ...entry };
    if (isMap(entry.env)) taken.env = mapPairs(entry.env, (name, value) => ofEnv(prefix, name, value, out));
    if (isMap(entry.headers)) {
      taken.headers = mapPairs(entry.headers, (name, value) => ofHeader(prefix, name, value, out));
    }
    if (Array.isArray(entry.args)) taken.args = ofArguments(entry.args.map(String), prefix, out);
    if (typeof entry.url === 'string') taken.url = ofUrl(entry.url, prefix, 'url', out);
    if (isMap(entry.config)) taken.config = ofConfig(entry.config, 'config', out);
    // A word of the arguments, and it may have been the wrong one.
    if (values.some((value) => String(entry.server).includes(value))) taken.server = entry.name;
    return { entry: taken, secrets };
  }

  #nameFor(wish: string, prefix: string, value: string): string {
    for (const name of [wish, `${prefix}_${wish}`]) {
      if ((this.#values.get(name) ?? value) !== value) continue;
      this.#values.set(name, value);
      return name;
    }
    return this.#nameFor(`${wish}_2`, prefix, value);
  }
}

type Out = (wish: string, value: string, at: string) => string;

function ofEnv(prefix: string, name: string, value: string, out: Out): string {
  const at = `env.${name}`;
  if (isSecret(name, value) || hidesOne(value)) return out(variableName(name), value, at);
  return ofUrl(value, prefix, at, out);
}

function ofHeader(prefix: string, name: string, value: string, out: Out, at = `headers.${name}`): string {
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token)\s+)?(.*)$/is.exec(value) ?? [];
  // Whatever the header is called, a bearer's token is one.
  if (!isSecret(/^bearer/i.test(scheme) ? 'token' : name, rest)) return value;
  const wish = `${prefix}_${scheme === '' ? variableName(name).toUpperCase() : 'TOKEN'}`;
  return scheme + out(wish, rest, at);
}

/** `--api-key X`, `--api-key=X`, `API_KEY=X`, `--header 'X-Key: X'`, and what looks like a token by itself. */
function ofArguments(args: readonly string[], prefix: string, out: Out): string[] {
  return args.map((arg, index) => {
    const at = `args[${index}]`;
    const [, head = '', name = '', value = ''] = /^((?:--?)?([\w.-]+)=)(.*)$/s.exec(arg) ?? [];
    if (head !== '' && isSecret(name, value)) return head + out(wishOf(prefix, name, head), value, at);
    const text = head === '' ? arg : value;
    const [, label, header = '', rest = ''] = /^(([\w-]+):\s*)(?!\/\/)(.+)$/s.exec(text) ?? [];
    if (label !== undefined) {
      const safe = label + ofHeader(prefix, header, rest, out, at);
      if (safe !== text) return head + safe;
    }
    if (hidesOne(text))
      return head + out(`${prefix}_${variableName(name || 'argument').toUpperCase()}`, text, at);
    if (head !== '') return head + ofUrl(value, prefix, at, out);
    const flag = /^--?([\w.-]+)$/.exec(args[index - 1] ?? '')?.[1] ?? '';
    const isValue = !arg.startsWith('-') && isSecret(flag, arg);
    if (isValue) return out(wishOf(prefix, flag === '' ? 'token' : flag, '-'), arg, at);
    return ofUrl(arg, prefix, at, out);
  });
}

/** A flag means nothing outside of its server; a variable of the environment has a name of its own. */
function wishOf(prefix: string, name: string, head: string): string {
  const variable = variableName(name).toUpperCase();
  return head.startsWith('-') ? `${prefix}_${variable.replace(/^_+/, '')}` : variable;
}

/** In a url: a password before the host, and parameters with a telling name. Any other text stays as it is. */
function ofUrl(url: string, prefix: string, at: string, out: Out): string {
  if (!/^[\w+.-]+:\/\//.test(url)) return url;
  return url
    .replace(/^([\w+.-]+:\/\/)([^/?#:@]+)@/, (whole, head: string, value: string) =>
      isToken(value) ? `${head}${out(`${prefix}_TOKEN`, value, at)}@` : whole,
    )
    .replace(/^([\w+.-]+:\/\/[^/?#:@]*:)([^/?#@]+)@/, (whole, head: string, value: string) =>
      isSecret('password', value) ? `${head}${out(`${prefix}_PASSWORD`, value, at)}@` : whole,
    )
    .replaceAll(/([?&]([\w.-]+)=)([^&#]*)/g, (whole, head: string, name: string, value: string) =>
      isSecret(name, value) ? head + out(wishOf(prefix, name, '-'), value, at) : whole,
    );
}

/** Whatever a server is given to read. */
function ofConfig(map: Record<string, unknown>, at: string, out: Out): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, ofSetting(name, value, `${at}.${name}`, out)]),
  );
}

function ofSetting(name: string, value: unknown, at: string, out: Out): unknown {
  if (isMap(value)) return ofConfig(value, at, out);
  if (Array.isArray(value)) return value.map((item, index) => ofSetting(name, item, `${at}[${index}]`, out));
  const hides = typeof value === 'string' && (isSecret(name, value) || hidesOne(value));
  return hides ? out(variableName(name).toUpperCase(), value, at) : value;
}

function isSecret(name: string, value: string): boolean {
  if (HARMLESS.test(value.trim()) || hasReferences(value)) return false;
  if (isToken(value)) return true;
  const plain = name.replaceAll(/[-.]/g, '_');
  return looksSecret(name) && !ABOUT_ONE.test(plain);
}

/** A url has places of its own for them. */
function hidesOne(text: string): boolean {
  return WITHIN.test(text) && !hasReferences(text) && !/^[\w+.-]+:\/\//.test(text);
}

function mapPairs(
  map: Record<string, unknown>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(name, String(value))]));
}
