import { ENTRY, FIELDS, type FieldName, isField } from '../fields/entry-fields.js';
import type { FileContext, ParsedEntry, Report } from '../fields/parsed-entry.js';
import { type ShapeProblem, shapeProblems } from '../fields/shape-problems.js';
import type { Transport } from '../fields/transports.js';
import { toTransport } from '../fields/transports.js';
import { convertSource, isSourceDocument } from '../packages/source-document.js';
import { type Data, type DataMap, isMap, type SourceDocument } from '../parse/document.js';
import type { Path, Problem } from '../parse/problem.js';
import { checkEntry, warnUnmeasured } from './entry-rules.js';

/** Reads one item of `tools` or `mcp_servers`. Undefined when it cannot be checked any further. */
export function readEntry(
  document: SourceDocument,
  path: Path,
  item: Data,
  context: FileContext,
  report: Report,
  warn: Report,
): ParsedEntry | undefined {
  let failed = false;
  const fail = (problem: Problem) => {
    failed = true;
    report(problem);
  };
  if (!isMap(item)) {
    fail(
      document.problem(
        'MCPConfigError',
        path,
        'An entry must be a map of fields',
        'write name: …, server: …',
      ),
    );
    return undefined;
  }
  const source = isSourceDocument(item) ? convertSource(document, path, item, fail) : undefined;
  if (failed) return undefined;
  const data = withoutNulls(source?.entry ?? item);
  const names: Partial<Record<FieldName, string>> = { ...source?.names };
  const at = (field: FieldName, ...deeper: Path): Path => [...path, names[field] ?? field, ...deeper];
  // The rules still check the fields of the right shape, so that all problems of a file are reported at once.
  const fieldsInError = new Set<string>();
  if (source === undefined) {
    const found = entryShape(document, path, data);
    for (const { problem, inner } of found) {
      fail(problem);
      const field = String(inner[0]);
      fieldsInError.add(document.nearMiss(field, Object.keys(FIELDS)) ?? field);
      if (inner.length === 1 || !PAIRS.has(field)) delete data[field];
    }
    for (const field of PAIRS) omitWrongValues(data, field, found);
  }
  const fields: ParsedEntry['fields'] = data;
  const entry: ParsedEntry = {
    document,
    path,
    context,
    name: String(fields.name),
    server: String(fields.server),
    transport: normalizeTransport(fields.transport),
    fields,
    fieldsInError,
    isBroken: false,
    at,
  };
  normalizeEnvFile(entry, names, fail);
  // a plugin's manifest may have it
  if (fields.plugin_dir === undefined) warnWithoutDescription(entry, warn);
  if (fields.max_rss !== undefined) warnUnmeasured(document, entry.at('max_rss'), warn);
  normalizeLegacy(entry, warn);
  checkEntry(entry, fail, warn);
  entry.isBroken = failed;
  return entry;
}

export function warnWithoutDescription({ document, path, name, fields }: ParsedEntry, warn: Report): void {
  if (fields.description !== undefined) return;
  const fix = "add a line 'description: …' that says what it is for";
  warn(document.problem('MCPConfigError', path, `'${name}' has no description`, fix));
}

/** A field left empty (`env:`) counts as absent. */
function withoutNulls(item: DataMap): DataMap {
  const data: DataMap = Object.create(null);
  for (const [key, value] of Object.entries(item)) if (value !== null || !isField(key)) data[key] = value;
  return data;
}

const PAIRS: ReadonlySet<string> = new Set(['env', 'headers']);

/**
 * Leaves out only the wrong values of a map, so that problems of the others are still found. The document's map is not
 * changed.
 */
function omitWrongValues(data: DataMap, field: string, found: readonly ShapeProblem[]): void {
  const wrong = new Set(found.flatMap(({ inner }) => (inner[0] === field ? [inner[1]] : [])));
  const map = data[field];
  if (wrong.size === 0 || !isMap(map)) return;
  const rest: DataMap = Object.create(null);
  for (const [name, value] of Object.entries(map)) if (!wrong.has(name)) rest[name] = value;
  data[field] = rest;
}

function entryShape(document: SourceDocument, path: Path, data: DataMap): ShapeProblem[] {
  const found = shapeProblems(document, data, {
    type: 'MCPConfigError',
    schema: ENTRY,
    path,
    known: Object.keys(FIELDS),
    about: (field) => (isField(field) ? FIELDS[field].about : undefined),
  });
  const server = data.server;
  const isServerBad = found.some(({ inner }) => inner[0] === 'server');
  if (isServerBad || (typeof server === 'string' && server.trim() === '')) {
    const others = found.filter(({ inner }) => inner[0] !== 'server');
    const message = "'server' must be a non-empty identifier";
    const problem = document.problem(
      'ValidationError',
      [...path, 'server'],
      message,
      server === undefined
        ? "add the field 'server': a name for the package or service, for people; 'command' and 'args' say what runs"
        : 'name the package or service',
    );
    found.splice(0, found.length, ...others, { problem, inner: ['server'] });
  }
  // zod ignores a key of this name; here it is ordinary data.
  for (const field of PAIRS) {
    const map = data[field];
    const own = isMap(map) ? Object.getOwnPropertyDescriptor(map, '__proto__') : undefined;
    if (own === undefined || typeof own.value === 'string') continue;
    const message = `'${field}.__proto__' must be a text`;
    const place = [...path, field, '__proto__'];
    found.push({
      problem: document.problem('MCPConfigError', place, message, 'put quotes around it'),
      inner: [field, '__proto__'],
    });
  }
  return found;
}

function normalizeTransport(value: Data | undefined): Transport {
  const name = isMap(value) ? value.type : value;
  // the shape refuses any other name
  return toTransport(name) ?? FIELDS.transport.default;
}

function normalizeEnvFile(
  entry: ParsedEntry,
  names: Partial<Record<FieldName, string>>,
  report: Report,
): void {
  const { fields } = entry;
  if (fields.env_file === undefined) return;
  if (fields.envFile !== undefined) {
    const message = "'envFile' and 'env_file' are the same field";
    report(
      entry.document.problem('MCPConfigError', entry.at('env_file'), message, 'keep one of them', 'key'),
    );
  }
  fields.envFile = fields.env_file;
  delete fields.env_file;
  names.envFile = 'env_file';
}

/** Entries of the first format had only `server`; npx runs it if it is an npm package with a scope. */
function normalizeLegacy(entry: ParsedEntry, warn: Report): void {
  const { fields, server } = entry;
  const isBare =
    fields.transport === undefined && fields.command === undefined && fields.plugin_dir === undefined;
  if (!isBare || fields.url !== undefined || !/^@[^/\s]+\/[^/\s]+$/.test(server)) return;
  fields.command = 'npx';
  fields.args = ['-y', server, ...(Array.isArray(fields.args) ? fields.args : [])];
  const message = `'${entry.name}' has no command; it is run as 'npx -y ${server}', which is deprecated`;
  const fix = `add 'command: npx' and 'args: ["-y", "${server}"]'`;
  warn(entry.document.problem('MCPConfigError', entry.at('server'), message, fix));
}
