import type { ServerSpec } from '../config/spec.js';
import type { ReloadReport } from '../ipc/fleet.js';
import type { ConfiguredServer } from './configured-server.js';
import { unknownServer } from './errors.js';
import { identityOf } from './spec-view.js';

export interface MembersOptions {
  /** `predecessor` has to be gone before anything of the new one starts. */
  create(spec: ServerSpec, predecessor: Promise<unknown>): ConfiguredServer;
  /** Nothing is left of a server that is no longer configured. */
  forgotten(name: string): void;
}

/** Who belongs to the herd: what the config says, and what is still on its way out. */
export class Members {
  readonly #options: MembersOptions;
  #servers = new Map<string, ConfiguredServer>();
  /** Servers whose config is no more, until they are no more: a new one of the same name waits for them. */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get servers(): ConfiguredServer[] {
    return [...this.#servers.values()];
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  get leaving(): Promise<void>[] {
    return [...this.#leaving.values()];
  }

  get(name: string): ConfiguredServer | undefined {
    return this.#servers.get(name);
  }

  /** Throws when there is none. */
  find(name: string): ConfiguredServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw unknownServer(name, this.names);
    return server;
  }

  /** What would change. */
  compare(specs: readonly ServerSpec[]): ReloadReport {
    const before = new Map(this.servers.map(({ spec }) => [spec.name, identityOf(spec)]));
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
    for (const [name, server] of old) if (!unchanged.has(name)) this.#retire(server);
    const begun: ConfiguredServer[] = [];
    for (const spec of specs) {
      const kept = unchanged.has(spec.name) ? old.get(spec.name) : undefined;
      const server = kept ?? this.#create(spec);
      this.#servers.set(spec.name, server);
      if (kept === undefined) begun.push(server);
    }
    for (const server of begun) server.begin();
    return report;
  }

  #create(spec: ServerSpec): ConfiguredServer {
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
