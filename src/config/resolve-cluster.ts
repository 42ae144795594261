import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Redactor } from '../shared/secrets/redactor.js';
import { isNodeName } from '../shared/text/node-name.js';
import { HOW_TO_REFER, isMalformed, MALFORMED_REFERENCE } from './entry/entry-rules.js';
import { BAD_NODE_NAME, CLUSTER_FIELDS, nodeNameOf } from './fields/cluster.js';
import { valueOr } from './fields/defaults.js';
import { type Report, stringMap, strings } from './fields/parsed-entry.js';
import type { ClusterCredentials, ClusterSpec } from './fields/spec.js';
import { isLoopback } from './fields/url-rule.js';
import { type DataMap, isMap } from './parse/document.js';
import type { Path } from './parse/problem.js';
import { FileReadError, readSmallFile } from './parse/read-file.js';
import { type ExpandedPart, Expander, type LoadEnvironment } from './variables/expander.js';
import { ENVIRONMENT, parseReferences } from './variables/variables.js';

const EXAMPLE_URL = 'nats://HOST:4222';

export interface ResolvedCluster {
  /** Undefined: something is wrong with it, which was reported. */
  spec: ClusterSpec | undefined;
  /** The name of this node, where it is known: it decides which entries run here, cluster or not. */
  node: string | undefined;
}

/** `hostName`: default of the node's name. */
export interface ClusterPlace extends ExpandedPart {
  hostName?: string | undefined;
}

/** `cluster:` with its variables expanded. The redactor gets to know what is secret in it. */
export function resolveCluster(
  written: DataMap,
  part: ClusterPlace,
  loadEnvironment: LoadEnvironment,
  report: Report,
  warn: Report,
): ResolvedCluster {
  const reading = new Reading(part, loadEnvironment, report);
  const node = nodeOf(written, part, reading);
  const spec: ClusterSpec = {
    engine: 'nats',
    name: reading.nodeName('name', valueOr(written.name, CLUSTER_FIELDS.name.default)) ?? '',
    servers: strings(written.servers).map((text, index) => reading.url(text, ['servers', index])),
    node: node ?? '',
    share: valueOr(written.share, [...CLUSTER_FIELDS.share.default]),
    use: valueOr(written.use, [...CLUSTER_FIELDS.use.default]),
    credentials: credentialsOf(written, reading),
    tls: tlsOf(written, reading),
  };
  if (reading.isFaulty) return { spec: undefined, node };
  warnOfPlainText(spec, part, warn);
  return { spec, node };
}

/** The texts of the section: expanded, checked, their problems reported. */
class Reading {
  readonly #part: ExpandedPart;
  readonly #loadEnvironment: LoadEnvironment;
  readonly #report: Report;
  readonly #secret: Expander;
  readonly #public: Expander;
  #isFaulty = false;

  constructor(part: ExpandedPart, loadEnvironment: LoadEnvironment, report: Report) {
    this.#part = part;
    this.#loadEnvironment = loadEnvironment;
    this.#report = report;
    const expander = (redactor: Redactor) =>
      new Expander(
        part,
        { ...loadEnvironment, redactor },
        [{ label: ENVIRONMENT, values: loadEnvironment.environment }],
        report,
      );
    this.#secret = expander(loadEnvironment.redactor);
    // the names of nodes are shown everywhere
    this.#public = expander(new Redactor());
  }

  get isFaulty(): boolean {
    return this.#isFaulty || this.#secret.isIncomplete || this.#public.isIncomplete;
  }

  fail(path: Path, message: string, fix: string): void {
    this.#isFaulty = true;
    this.#report(this.#part.document.problem('ConfigError', ['cluster', ...path], message, fix));
  }

  nodeName(key: 'name' | 'node', text: string): string | undefined {
    const name = this.#expand(this.#public, text, [key]);
    if (this.#public.isIncomplete || isNodeName(name)) return name;
    this.fail([key], `'cluster.${key}' ${BAD_NODE_NAME}`, 'check the variable it comes from');
    return undefined;
  }

  url(text: string, path: Path): string {
    const url = this.#expand(this.#secret, text, path);
    if (this.#secret.isIncomplete) return url;
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined || !/^(nats|tls):$/.test(parsed.protocol) || parsed.hostname === '') {
      this.fail(
        path,
        'A NATS server must be a url that begins with nats:// or tls://',
        `for example ${EXAMPLE_URL}`,
      );
    } else if (parsed.username !== '' || parsed.password !== '') {
      this.fail(
        path,
        'The url of a NATS server must not hold a user name or a password',
        "use 'credentials'",
      );
    }
    return url;
  }

  secret(name: string, text: string): string {
    const value = this.#expand(this.#secret, text, ['credentials', name]);
    if (name !== 'user') this.#loadEnvironment.redactor.add(name, value);
    return value;
  }

  file(text: string, path: Path): string {
    const file = resolve(this.#part.context.folder, this.#expand(this.#public, text, path));
    if (this.isFaulty || this.#loadEnvironment.variables === 'lenient') return file;
    try {
      readSmallFile(file);
    } catch (error) {
      if (!(error instanceof FileReadError)) throw error;
      this.fail(path, error.message, error.fix);
    }
    return file;
  }

  #expand(expander: Expander, text: string, path: Path): string {
    if (isMalformed(parseReferences(text))) this.fail(path, MALFORMED_REFERENCE, HOW_TO_REFER);
    return expander.text(text, ['cluster', ...path]);
  }
}

function nodeOf({ node }: DataMap, { hostName = hostname() }: ClusterPlace, reading: Reading) {
  if (typeof node === 'string') return reading.nodeName('node', node);
  const name = nodeNameOf(hostName);
  if (name === undefined)
    reading.fail([], 'The name of this host cannot be the name of a node', "add 'node: NAME'");
  return name;
}

function credentialsOf({ credentials }: DataMap, reading: Reading): ClusterCredentials | undefined {
  if (typeof credentials === 'string')
    return { kind: 'creds', file: reading.file(credentials, ['credentials']) };
  if (!isMap(credentials)) return undefined;
  const { user, password, token, nkey } = stringMap(credentials);
  if (nkey !== undefined) return { kind: 'nkey', file: reading.file(nkey, ['credentials', 'nkey']) };
  if (token !== undefined) return { kind: 'token', token: reading.secret('token', token) };
  return {
    kind: 'user',
    user: reading.secret('user', user ?? ''),
    password: reading.secret('password', password ?? ''),
  };
}

function tlsOf({ tls, servers }: DataMap, reading: Reading): ClusterSpec['tls'] {
  if (!isMap(tls)) return strings(servers).some((url) => url.startsWith('tls:')) ? {} : undefined;
  const files = Object.entries(stringMap(tls)).flatMap(([name, file]) =>
    file === null ? [] : [[name, reading.file(file, ['tls', name])]],
  );
  return Object.fromEntries(files);
}

/** The server decides about TLS where this side does not: who answers in its place gets the password. */
function warnOfPlainText({ servers, credentials, tls }: ClusterSpec, part: ExpandedPart, warn: Report): void {
  const areSecret = credentials?.kind === 'user' || credentials?.kind === 'token';
  if (!areSecret || tls !== undefined) return;
  if (servers.every((url) => isLoopback(new URL(url).hostname))) return;
  const message = "'credentials' may cross the network in plain text";
  const fix = "add 'tls: {}', or write tls:// for nats://, or use a .creds file or an nkey";
  warn(part.document.problem('ConfigError', ['cluster', 'credentials'], message, fix));
}
