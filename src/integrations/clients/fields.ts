import { TRANSPORT_OF } from '../../config/fields/transports.js';
import { isMap } from '../../config/parse/document.js';
import { isVariableName } from '../../config/variables/names.js';
import { parseReferences } from '../../config/variables/variables.js';

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
    if (!isMap(value) || !Object.values(value).every(isVariableName)) return false;
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

/** The names of other programs, besides ours. */
const CLIENT_TRANSPORTS: Readonly<Record<string, string>> = {
  ...TRANSPORT_OF,
  local: 'stdio',
  streamableHttp: 'http',
  ws: 'websocket',
};

export const transport: Field = (entry, value) => {
  const known =
    typeof value === 'string' && Object.hasOwn(CLIENT_TRANSPORTS, value)
      ? CLIENT_TRANSPORTS[value]
      : undefined;
  entry.transport = known;
  return known !== undefined;
};

/** The path of an env file. It may hold folders, but no variable of the environment. */
export const envFile: Field = (entry, value, translate) => {
  if (typeof value !== 'string') return false;
  const path = translate(value);
  if (parseReferences(path).some(({ kind }) => kind === 'variable' || kind === 'malformed')) return false;
  entry.envFile = path;
  return true;
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
  envFile,
};

/** Merges values into a map field of the entry. */
export function add(entry: Entry, name: string, more: Record<string, unknown>): void {
  entry[name] = { ...(isMap(entry[name]) ? entry[name] : {}), ...more };
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function mapped(map: Record<string, unknown>, change: (value: unknown) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
