import { HERD_SEPARATOR } from '../shared/mcp/separators.js';
import { restartPolicy } from './entry/restart-policy.js';
import { valueOr } from './fields/defaults.js';
import { FIELDS } from './fields/entry-fields.js';
import { HERD_FIELDS, herdShape } from './fields/herd.js';
import type { ParsedEntry, Report } from './fields/parsed-entry.js';
import { quoteName, shapeProblems } from './fields/shape-problems.js';
import type { HerdServerSpec, HerdSpec } from './fields/spec.js';
import { type Data, type DataMap, isMap, type SourceDocument } from './parse/document.js';

/** Times of the connection to a herd, in milliseconds. A start of the other daemon is a part of the handshake. */
const HANDSHAKE_MS = 60_000;
const PING = { intervalMs: 10_000, timeoutMs: 10_000 };
/** Of the connection to one server of it. */
export const SERVER_HANDSHAKE_MS = 30_000;

/** Reads `herds:` of config.yaml. `entries`: the servers of the same file, whose names a herd must not have. */
export function readHerds(
  document: SourceDocument,
  top: DataMap,
  entries: readonly ParsedEntry[],
  report: Report,
): HerdSpec[] {
  const list = top.herds ?? null;
  if (list === null) return [];
  if (!Array.isArray(list)) {
    const fix = "write each herd as '- {name: desk, ssh: user@desk}'";
    report(document.problem('ConfigError', ['herds'], "'herds' must be a list", fix));
    return [];
  }
  const herds: HerdSpec[] = [];
  const known = new Set<string>();
  for (const [index, item] of list.entries()) {
    const herd = readHerd(document, index, item, report);
    if (herd === undefined) continue;
    if (known.has(herd.name)) {
      const message = `The name '${herd.name}' is used by two herds`;
      report(document.problem('ConfigError', ['herds', index, 'name'], message, 'rename one of the two'));
    }
    known.add(herd.name);
    herds.push(herd);
  }
  checkEntries(document, entries, known, report);
  return herds;
}

/** An agent file comes with a project, which must not open connections to other machines. */
export function refuseHerds(document: SourceDocument, report: Report): void {
  if (!isMap(document.value) || (document.value.herds ?? null) === null) return;
  const message = "'herds' does not belong in an agent file: a project must not open connections of yours";
  const fix = 'move it to your config.yaml; "toolherd validate" prints its path';
  report(document.problem('ConfigError', ['herds'], message, fix, 'key'));
}

function readHerd(document: SourceDocument, index: number, item: Data, report: Report): HerdSpec | undefined {
  const path = ['herds', index];
  const found = shapeProblems(document, item ?? Object.create(null), {
    type: 'ConfigError',
    schema: herdShape(),
    path,
    known: Object.keys(HERD_FIELDS),
    about: (field) => (isHerdField(field) ? HERD_FIELDS[field].about : undefined),
  });
  for (const { problem } of found) report(problem);
  if (found.length > 0 || !isMap(item)) return undefined;
  const ssh = valueOr<string | undefined>(item.ssh, undefined);
  const socket = valueOr<string | undefined>(item.socket, undefined);
  if ((ssh === undefined) === (socket === undefined)) {
    const message = `A herd has either 'ssh' or 'socket'${ssh === undefined ? '' : ', not both'}`;
    const fix = "write 'ssh: user@host', or 'socket: PATH' for a herd of this machine";
    report(document.problem('ConfigError', path, message, fix));
    return undefined;
  }
  const servers: DataMap = isMap(item.servers) ? item.servers : {};
  const address = ssh ?? socket!;
  return {
    ...COMMON,
    // a daemon that ended properly comes back, too
    ...{ ...restartPolicy({ fields: {}, transport: 'http' }), restart: 'always' },
    name: String(item.name),
    server: address,
    origin: { scope: 'global', file: document.file, ...document.position(path) },
    loadTools: false,
    loadPrompts: false,
    start: 'eager',
    ping: PING,
    transport: ssh === undefined ? 'socket' : 'ssh',
    url: ssh === undefined ? `unix:${address}` : `ssh:${address}`,
    timeoutMs: HANDSHAKE_MS,
    address,
    command: valueOr(item.command, HERD_FIELDS.command.default),
    servers: {
      allow: valueOr(servers.allow, [...HERD_FIELDS.servers.default.allow]),
      deny: valueOr(servers.deny, [...HERD_FIELDS.servers.default.deny]),
    },
  };
}

function isHerdField(name: string): name is keyof typeof HERD_FIELDS {
  return Object.hasOwn(HERD_FIELDS, name);
}

function checkEntries(
  document: SourceDocument,
  entries: readonly ParsedEntry[],
  herds: ReadonlySet<string>,
  report: Report,
): void {
  for (const entry of entries) {
    const herd = entry.name.split(HERD_SEPARATOR, 1)[0]!;
    if (!herds.has(herd)) continue;
    const message =
      herd === entry.name
        ? `${quoteName(entry.name)} is also the name of a herd`
        : `${quoteName(entry.name)} would be the name of a server of the herd '${herd}'`;
    report(document.problem('MCPConfigError', entry.at('name'), message, 'rename the server or the herd'));
  }
}

const requestTimeoutMs = FIELDS.request_timeout.default * 1000;

/** What the connection to a herd and those to its servers have alike. */
export const COMMON = {
  description: undefined,
  registryName: undefined,
  enabled: true,
  env: {},
  config: undefined,
  roots: [],
  requestTimeoutMs,
  maxTimeoutMs: FIELDS.max_timeout.default * 1000,
  sharing: 'shared',
  replicas: 1,
  idleTimeoutMs: 0,
  tools: { allow: FIELDS.tools.default.allow, deny: FIELDS.tools.default.deny },
  maxMessageBytes: FIELDS.max_message_bytes.default.value,
  maxInFlight: FIELDS.max_in_flight.default,
  resultLimit: 0,
  headers: {},
} as const;

/**
 * The spec of a server of another herd. That herd restarts it; here only the connection to it can fail, and the next call
 * opens another: no restarts, no backoff and no quarantine.
 */
export function herdServerSpec({ name, origin }: HerdSpec, remoteName: string): HerdServerSpec {
  return {
    ...COMMON,
    ...{ ...restartPolicy({ fields: {}, transport: 'http' }), restart: 'never' },
    name: `${name}${HERD_SEPARATOR}${remoteName}`,
    server: remoteName,
    origin,
    loadTools: true,
    loadPrompts: true,
    start: 'lazy',
    // the connection of the herd is pinged
    ping: { intervalMs: 0, timeoutMs: 0 },
    transport: 'herd',
    url: `herd://${name}/${encodeURIComponent(remoteName)}`,
    timeoutMs: SERVER_HANDSHAKE_MS,
    herd: name,
    remoteName,
  };
}
