import type { ServerSpec, StdioSpec } from '../config/spec.js';
import type { ReloadReport } from '../ipc/fleet.js';
import type { ConfiguredServer } from './configured-server.js';
import { unknownServer, unsupported } from './errors.js';
import { identityOf } from './spec-view.js';

export interface MembersOptions {
  /** `predecessor` has to be gone before anything of the new one starts. */
  create(spec: StdioSpec, predecessor: Promise<unknown>): ConfiguredServer;
  /** Nothing is left of a server that is no longer configured. */
  forgotten(name: string): void;
}

/** Who belongs to the herd: what the config says, and what is still on its way out. */
export class Members {
  readonly #options: MembersOptions;
  #servers = new Map<string, ConfiguredServer>();
  /** Entries of transports that cannot be reached yet; shown, never started. */
  #unsupported = new Map<string, ServerSpec>();
  /** Servers whose config is no more, until they are no more: a new one of the same name waits for them. */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get servers(): ConfiguredServer[] {
    return [...this.#servers.values()];
  }

  get unsupported(): ServerSpec[] {
    return [...this.#unsupported.values()];
  }

  get leaving(): Promise<void>[] {
    return [...this.#leaving.values()];
  }

  get(name: string): ConfiguredServer | undefined {
    return this.#servers.get(name);
  }

  specOf(name: string): ServerSpec | undefined {
    return this.#servers.get(name)?.spec ?? this.#unsupported.get(name);
  }

  /** Throws when there is none that could be ordered about. */
  find(name: string): ConfiguredServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const spec = this.#unsupported.get(name);
    throw spec === undefined ? this.unknown(name) : unsupported(spec);
  }

  unknown(name: string) {
    return unknownServer(name, [...this.#servers.keys(), ...this.#unsupported.keys()]);
  }

  /** What would change. */
  compare(specs: readonly ServerSpec[]): ReloadReport {
    const known = [...this.servers.map(({ spec }) => spec), ...this.#unsupported.values()];
    const before = new Map(known.map((spec) => [spec.name, identityOf(spec)]));
    const report: ReloadReport = { added: [], removed: [], changed: [], unchanged: [] };
    for (const spec of specs) {
      const identity = before.get(spec.name);
      const list = identity === undefined ? 'added' : identity === identityOf(spec) ? 'unchanged' : 'changed';
      report[list].push(spec.name);
    }
    const names = new Set(specs.map(({ name }) => name));
    report.removed = [...before.keys()].filter((name) => !names.has(name));
    return report;
  }

  /** Makes the herd what these specs say. Servers whose spec is the same are not touched. */
  replace(specs: readonly ServerSpec[]): ReloadReport {
    const report = this.compare(specs);
    const unchanged = new Set(report.unchanged);
    const old = this.#servers;
    this.#servers = new Map();
    this.#unsupported = new Map();
    for (const [name, server] of old) if (!unchanged.has(name)) this.#retire(server);
    const begun: ConfiguredServer[] = [];
    for (const spec of specs) {
      if (spec.transport !== 'stdio') {
        this.#unsupported.set(spec.name, spec);
        continue;
      }
      const kept = unchanged.has(spec.name) ? old.get(spec.name) : undefined;
      const server = kept ?? this.#create(spec);
      this.#servers.set(spec.name, server);
      if (kept === undefined) begun.push(server);
    }
    for (const server of begun) server.begin();
    return report;
  }

  #create(spec: StdioSpec): ConfiguredServer {
    return this.#options.create(spec, this.#leaving.get(spec.name) ?? Promise.resolve());
  }

  #retire(server: ConfiguredServer): void {
    const { name } = server.spec;
    const gone = server.retire().then(() => {
      if (this.#leaving.get(name) === gone) this.#leaving.delete(name);
      if (!this.#servers.has(name)) this.#options.forgotten(name);
    });
    this.#leaving.set(name, gone);
  }
}
