import type { Home } from '../support/herd.js';

/** Printed as a comment in place of the value. */
class Omitted {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

const WIDTH = 120;
/** The fields of a spec that a reader needs to recognise it. */
const SPEC_FIELDS = ['name', 'transport', 'command', 'args', 'cwd', 'env', 'lifecycle', 'requestTimeoutMs'];
/** The fields of a status that change when a server starts. */
const STATUS_FIELDS = [
  'name',
  'state',
  'detail',
  'pids',
  'incarnation',
  'tools',
  'protocol_version',
  'server_info',
];

/** What differs from run to run, by the name of its field. */
const SAMPLES: Record<string, (value: unknown) => unknown> = {
  pid: () => 4711,
  pids: (pids) => (pids as number[]).map((_pid, index) => 4712 + index),
  request_id: (id) => String(id).replace(/^\d+/, '4711'),
  execution_time_ms: () => 0.8,
  score: () => 1.2,
  daemon_pid: () => 4711,
  duration_ms: () => 0.8,
  p50_ms: () => 0.8,
  p99_ms: () => 1.9,
  bytes: () => 92,
  records: () => 12,
  next: (place) => (place === null ? null : '1311768-40960'),
  rss_bytes: (bytes) => (bytes === 0 ? 0 : 43_000_000),
  hash: (hash) => `${String(hash).slice(0, 8)}…`,
  spec: (spec) => shortSpec(spec as object),
};

/** The answers that PROTOCOL.md shows; some are the same as those of another method in part. */
export const SHOWN: Record<string, (answer: Record<string, unknown>) => unknown> = {
  'fleet/hello': (answer) => answer,
  'fleet/status': (answer) => answer,
  'fleet/start': ({ servers }) => ({ servers: (servers as object[]).map(shortStatus) }),
  'fleet/tools': (answer) => answer,
  'fleet/prompts': (answer) => answer,
  'fleet/resources': (answer) => answer,
  'fleet/search': (answer) => answer,
  'fleet/call': (answer) => answer,
  'fleet/call_many': (answer) => answer,
  'fleet/inspect': (answer) => ({ ...answer, status: { '': new Omitted('as in fleet/status') } }),
  'fleet/pins': (answer) => answer,
  'fleet/agents': (answer) => answer,
  'fleet/audit': (answer) => answer,
  'fleet/cluster': (answer) => answer,
  'fleet/reload': (answer) => answer,
  'fleet/shutdown': (answer) => answer,
};

/** An answer as PROTOCOL.md shows it: shortened, and the same in every run. */
export function answerText(answer: unknown, home: Home, fixture: string): string {
  const texts = (text: string) =>
    text
      .replaceAll(fixture, '/home/me/echo.mjs')
      .replaceAll(home.folder, '/home/me/herd')
      .replaceAll(process.execPath, '/usr/bin/node')
      .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, '2026-11-18T09:00:00.000Z');
  return `\`\`\`jsonc\n${print(sample(answer, texts), '')}\n\`\`\``;
}

function sample(value: unknown, texts: (text: string) => string): unknown {
  if (typeof value === 'string') return texts(value);
  if (value === null || typeof value !== 'object' || value instanceof Omitted) return value;
  if (Array.isArray(value)) {
    const [first, ...rest] = value;
    if (rest.length === 0) return value.map((one) => sample(one, texts));
    return [sample(first, texts), new Omitted('…')];
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, sample(SAMPLES[key]?.(inner) ?? inner, texts)]),
  );
}

const shortSpec = (spec: object) => only(spec, SPEC_FIELDS, 'and every other setting of the entry');
const shortStatus = (status: object) =>
  only(status, STATUS_FIELDS, 'the other fields are as in fleet/status');

function only(object: object, fields: readonly string[], rest: string): object {
  const shown = Object.entries(object).filter(([field]) => fields.includes(field));
  return { ...Object.fromEntries(shown), '': new Omitted(rest) };
}

/** JSON with comments; what fits on one line is on one line. */
function print(value: unknown, indent: string, nameLength = 0): string {
  const line = printLine(value);
  if (!isNested(value) || indent.length + nameLength + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const items = itemsOf(value).map(({ name, item }) => `${inner}${name}${print(item, inner, name.length)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

function printLine(value: unknown): string {
  if (value instanceof Omitted) return `/* ${value.what} */`;
  if (!isNested(value)) return JSON.stringify(value);
  const items = itemsOf(value).map(({ name, item }) => `${name}${printLine(item)}`);
  return Array.isArray(value) ? `[${items.join(', ')}]` : `{${items.join(', ')}}`;
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Omitted);

/** An item without a name is a comment in place of several. */
function itemsOf(value: object): { name: string; item: unknown }[] {
  const isList = Array.isArray(value);
  return Object.entries(value).map(([key, item]) => ({
    name: isList || key === '' ? '' : `${JSON.stringify(key)}: `,
    item,
  }));
}
