import type { ServerSpec } from '../../config/fields/spec.js';
import type { ReloadReport } from '../../fleet/fleet.js';
import type { MCPError } from '../../shared/call-errors.js';
import { replaced, unknownServer } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { Holder, ServerPool } from '../server/server-pool.js';
import { identityOf } from '../spec-identity.js';

export interface ViewServersOptions {
  pool: ServerPool;
  holder: Holder;
  /** Whether a new server starts as its config says. */
  begins(spec: ServerSpec): boolean;
  /** The files of other agents that have a server of this name: an error names them. */
  agentsWith?(name: string): readonly string[];
}

interface Member {
  /** As this view's files have it: of a shared server others may have another origin. */
  spec: ServerSpec;
  server: ConfiguredServer;
}

/** The servers of one view, in the order of its config. */
export class ViewServers {
  readonly #options: ViewServersOptions;
  #servers = new Map<string, Member>();
  /** `new` until the first `#fill`: only later servers are discovered at once. */
  #state: 'new' | 'filled' = 'new';
  /** Removed servers that are still stopping. A new server of the same name waits for them. */
  readonly #leaving = new Map<string, { key: string; gone: Promise<void> }>();

  constructor(options: ViewServersOptions) {
    this.#options = options;
  }

  get servers(): ConfiguredServer[] {
    return [...this.#servers.values()].map(({ server }) => server);
  }

  get specs(): ServerSpec[] {
    return [...this.#servers.values()].map(({ spec }) => spec);
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  get(name: string): ConfiguredServer | undefined {
    return this.#servers.get(name)?.server;
  }

  /** Throws when there is none. */
  find(name: string): ConfiguredServer {
    const server = this.get(name);
    if (server === undefined) throw this.unknown(name);
    return server;
  }

  unknown(name: string): MCPError {
    return unknownServer(name, this.names, this.#options.agentsWith?.(name));
  }

  /** As this view's files have it. Throws when there is none. */
  specOf(name: string): ServerSpec {
    return this.#servers.get(name)?.spec ?? this.find(name).spec;
  }

  has(server: ConfiguredServer): boolean {
    return this.get(server.spec.name) === server;
  }

  /** What would change. */
  compare(specs: readonly ServerSpec[]): ReloadReport {
    const before = new Map(this.specs.map((spec) => [spec.name, identityOf(spec)]));
    const report: ReloadReport = { added: [], removed: [], changed: [], unchanged: [] };
    for (const spec of specs) {
      const identity = before.get(spec.name);
      const list = identity === undefined ? 'added' : identity === identityOf(spec) ? 'unchanged' : 'changed';
      report[list].push(spec.name);
    }
    const names = new Set(specs.map(({ name }) => name));
    report.removed = [...before.keys()].filter((name) => !names.has(name));
    const misconfigured = specs.flatMap(({ name, unusable }) =>
      unusable?.detail === 'misconfigured' ? [{ server: name, problems: unusable.problems }] : [],
    );
    return misconfigured.length === 0 ? report : { ...report, misconfigured };
  }

  /** Releases the servers that are not in these specs, or changed in them. `acquireListed` has to follow. */
  releaseUnlisted(specs: readonly ServerSpec[]): ReloadReport {
    const report = this.compare(specs);
    const unchanged = new Set(report.unchanged);
    // a file that is not allowed any more gets no time
    const notAllowed = specs.filter(({ unusable }) => unusable?.detail === 'not_allowed');
    const withdrawn = new Set(notAllowed.map(({ name }) => name));
    for (const [name, { server }] of this.#servers) {
      if (unchanged.has(name)) continue;
      this.#servers.delete(name);
      this.#release(server, !withdrawn.has(name));
    }
    this.#stopRetiring(new Set(notAllowed.map(({ origin }) => origin.file)));
    return report;
  }

  /** Acquires the servers of these specs. Those that the view has already are not touched. */
  acquireListed(specs: readonly ServerSpec[]): void {
    const unchanged = this.#servers;
    this.#servers = new Map();
    this.#fill(specs, unchanged);
  }

  /** Adds a server behind all others, without comparing those. */
  add(spec: ServerSpec): void {
    this.#fill([spec], new Map());
  }

  #fill(specs: readonly ServerSpec[], unchanged: ReadonlyMap<string, Member>): void {
    const begun: ConfiguredServer[] = [];
    const isLate = this.#state === 'filled';
    this.#state = 'filled';
    for (const spec of specs) {
      const kept = unchanged.get(spec.name)?.server;
      const { server, isNew } = kept === undefined ? this.#take(spec) : { server: kept, isNew: false };
      this.#servers.set(spec.name, { spec, server });
      if (isNew && this.#options.begins(spec)) begun.push(server);
    }
    for (const server of begun) server.begin(isLate);
  }

  #take(spec: ServerSpec): { server: ConfiguredServer; isNew: boolean } {
    const { pool, holder } = this.#options;
    const { key, gone = Promise.resolve() } = this.#leaving.get(spec.name) ?? {};
    return pool.acquire({ spec, holder, key, predecessor: gone });
  }

  /** An earlier version of these files may still answer its calls. */
  #stopRetiring(files: ReadonlySet<string>): void {
    for (const server of this.#options.pool.retiring)
      if (files.has(server.spec.origin.file)) server.close(replaced(server.spec.name));
  }

  #release(server: ConfiguredServer, drains: boolean): void {
    const { pool, holder } = this.#options;
    const { key } = server;
    const { name } = server.spec;
    const ended = pool.release(server, holder, drains);
    if (ended === undefined) return;
    const gone = ended.then(() => {
      if (this.#leaving.get(name)?.gone === gone) this.#leaving.delete(name);
    });
    this.#leaving.set(name, { key, gone });
  }
}
