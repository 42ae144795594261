import { isMap } from '../../config/parse/document.js';

/** An entry of ours while it is built. */
export type Entry = Record<string, unknown>;

/** Copies the value of a client's field into our entry; false when the value has no equivalent here. */
export type Field = (entry: Entry, value: unknown, translate: (text: string) => string) => boolean;
export type Fields = Readonly<Record<string, Field>>;

/** A text field, under our name for it. */
export const text =
  (name: string): Field =>
  (entry, value, translate) => {
    if (typeof value !== 'string') return false;
    entry[name] = translate(value);
    return true;
  };

export const texts =
  (name: string): Field =>
  (entry, value, translate) => {
    if (!Array.isArray(value) || !value.every(isPlain)) return false;
    entry[name] = value.map((item) => translate(String(item)));
    return true;
  };

export const pairs =
  (name: string): Field =>
  (entry, value, translate) => {
    if (!isMap(value) || !Object.values(value).every(isPlain)) return false;
    add(
      entry,
      name,
      mapped(value, (item) => translate(String(item))),
    );
    return true;
  };

/** A map whose values are the names of variables. */
export const variables =
  (name: string): Field =>
  (entry, value) => {
    if (!isMap(value) || !Object.values(value).every(isVariable)) return false;
    add(
      entry,
      name,
      mapped(value, (variable) => `\${${variable}}`),
    );
    return true;
  };

export const flag =
  (name: string, { inverted = false } = {}): Field =>
  (entry, value) => {
    if (typeof value !== 'boolean') return false;
    // The default is not written.
    if (value === inverted) entry[name] = false;
    return true;
  };

/** A duration under our name for it, in seconds. */
export const seconds =
  (name: string, { unit = 1, whole = false } = {}): Field =>
  (entry, value) => {
    if (typeof value !== 'number' || !(value > 0)) return false;
    entry[name] = whole ? Math.ceil(value * unit) : value * unit;
    return true;
  };

export const MILLISECOND = 0.001;

/** Names of tools to allow or to deny. */
export const tools =
  (list: 'allow' | 'deny'): Field =>
  (entry, value) => {
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return false;
    if (value.length > 0) add(entry, 'tools', { [list]: value });
    return true;
  };

/** A url field that implies its transport. */
export const urlOf =
  (transport: string): Field =>
  (entry, value, translate) => {
    entry.transport ??= transport;
    return text('url')(entry, value, translate);
  };

const TRANSPORTS: Readonly<Record<string, string>> = {
  stdio: 'stdio',
  local: 'stdio',
  sse: 'sse',
  http: 'http',
  'streamable-http': 'http',
  streamable_http: 'http',
  streamableHttp: 'http',
  ws: 'websocket',
  websocket: 'websocket',
};

export const transport: Field = (entry, value) => {
  const known = typeof value === 'string' && Object.hasOwn(TRANSPORTS, value) ? TRANSPORTS[value] : undefined;
  entry.transport = known;
  return known !== undefined;
};

/** A field without meaning for toolherd. */
export const ignored: Field = () => true;

/** The fields that nearly every client has. */
export const COMMON_FIELDS: Fields = {
  command: text('command'),
  args: texts('args'),
  env: pairs('env'),
  cwd: text('cwd'),
  url: text('url'),
  headers: pairs('headers'),
  type: transport,
};

/** Merges values into a map field of the entry. */
export function add(entry: Entry, name: string, more: Record<string, unknown>): void {
  entry[name] = { ...(isMap(entry[name]) ? entry[name] : {}), ...more };
}

export function isVariable(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function mapped(map: Record<string, unknown>, change: (value: unknown) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
