import { existsSync } from 'node:fs';
import type { ServerSpec } from '../config/fields/spec.js';
import type { Loaded, LoadOptions } from '../config/load.js';
import type { Problem } from '../config/parse/problem.js';
import { whyGone } from '../config/parse/read-file.js';
import { AgentFileRefusedError } from '../config/trust/trust.js';
import { trustedPath } from '../config/trust/trusted-path.js';
import { watchConfig } from '../config/watch.js';
import type { AgentFiles, ConnectionFacts, ConnectionView } from '../ipc/server/fleet-provider.js';
import { serialize } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import type { Surface } from '../shared/mcp/surface.js';
import type { Redactor } from '../shared/secrets/redactor.js';
import type { Herd } from '../supervisor/herd/herd.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { AgentConnectionView, type ToFleet } from './agent-connection-view.js';
import { AgentFile, type Withdrawal } from './agent-file.js';
import { type ConfigSource, readAllowedConfig, readHerdConfig, rereadHerdConfig } from './config-source.js';

export interface AgentViewsOptions {
  herd: Herd;
  source: ConfigSource;
  clock: Clock;
  log(text: string): void;
  /** What agents see, by the present config. */
  surface(): Surface;
  /** Called with the secrets of every config that is read. */
  learn?(secrets: Redactor): void;
  /** Adds the servers that were registered at run time. */
  withRuntimeServers?(specs: readonly ServerSpec[]): ServerSpec[];
  /** How long the servers of an agent's file keep running after its last connection has ended. */
  lingerMs?: number;
}

/** An agent's file with the watch on it. */
interface WatchedFile {
  agent: AgentFile;
  unwatch(): void;
}

/** A script that runs every few minutes finds its servers still running. */
const LINGER_MS = 10 * 60 * 1000;

/**
 * The views of the herd. All connections that name the same agent file share its view. Where the config has `per-agent`
 * servers, each connection also gets a private view. Servers that only an agent file has keep running for `lingerMs`
 * after the last connection of that file has ended.
 */
export class AgentViews {
  readonly #options: AgentViewsOptions;
  readonly #files = new Map<string, WatchedFile>();
  readonly #serialized = serialize();

  constructor(options: AgentViewsOptions) {
    this.#options = options;
  }

  get views(): HerdView[] {
    return this.#agents.map(({ view }) => view);
  }

  /** The view of a connection that names no agent file. */
  global(connection: ConnectionFacts, toFleet: ToFleet, profile?: string): ConnectionView {
    const { herd, surface } = this.#options;
    const base = profile === undefined ? herd.view : herd.view.narrow(profile);
    const none = { agent: null, warnings: [], onClosed: () => undefined };
    return new AgentConnectionView({
      ...{ base, connection, toFleet, profile: profile ?? null, ...none },
      surface: () => base.surface(surface()),
    });
  }

  async ofAgent(
    connection: ConnectionFacts,
    file: string,
    files: AgentFiles,
    toFleet: ToFleet,
    profile?: string,
  ): Promise<ConnectionView> {
    const agent = await this.#serialized(() => this.#open(file, files));
    const { view, file: name, loaded } = agent;
    agent.connected();
    const base = this.#narrowed(agent, view, profile);
    const { surface } = this.#options;
    return new AgentConnectionView({
      ...{
        base,
        connection,
        agent: name,
        profile: profile ?? null,
        warnings: warningsOf(loaded),
        toFleet,
      },
      surface: () => base.surface(surface()),
      onClosed: () => agent.disconnected(),
    });
  }

  /** The global config or the trust store has changed. */
  async reload(): Promise<void> {
    // the files are listed inside the queue: a file that is being opened now was read before the change
    await this.#serialized(() => Promise.all([...this.#files.keys()].map((key) => this.#reload(key))));
  }

  /** A server was registered at run time. */
  serverAdded(spec: ServerSpec): void {
    for (const view of this.views) if (!view.knows(spec.name)) view.add(spec);
  }

  /** The servers that were registered at run time have changed. */
  serversChanged(): void {
    for (const agent of this.#agents) this.#apply(agent, agent.loaded);
  }

  close(): void {
    for (const key of [...this.#files.keys()]) this.#forget(key);
  }

  get #agents(): AgentFile[] {
    return [...this.#files.values()].map(({ agent }) => agent);
  }

  #narrowed(agent: AgentFile, view: HerdView, profile: string | undefined): HerdView {
    try {
      return profile === undefined ? view : view.narrow(profile);
    } catch (error) {
      agent.disconnected();
      throw error;
    }
  }

  /** Reads the file each time: it may have changed, or been revoked, since the last connection opened it. */
  async #open(path: string, files: AgentFiles): Promise<AgentFile> {
    const file = trustedPath(path);
    const read = files === 'allowed' ? readAllowedConfig : readHerdConfig;
    const { source } = this.#options;
    // a config that is away for a moment, as during `git checkout`, does not keep agents from the servers of their files
    const isAway = !existsSync(source.file);
    const loaded = await read(isAway ? { ...source, isRequired: false } : source, file);
    // the error repeats the client's path, so it does not show where links lead
    if (loaded === undefined) throw new AgentFileRefusedError(path);
    this.#learned(loaded);
    const known = this.#files.get(keyOf(file, files))?.agent;
    this.#logWarnings(loaded, known?.loaded);
    if (known === undefined) return this.#create(file, files, loaded);
    known.present();
    this.#apply(known, loaded);
    return known;
  }

  #create(file: string, files: AgentFiles, loaded: Loaded): AgentFile {
    const { herd, clock, log, lingerMs = LINGER_MS } = this.#options;
    const key = keyOf(file, files);
    const reload = () => void this.#serialized(() => this.#reload(key));
    const agent = new AgentFile({
      ...{ file, files, view: herd.open(file, this.#specsOf(loaded)), loaded, clock, log, lingerMs },
      onOverdue: reload,
      onUnused: () => this.#forget(key),
    });
    agent.view.useProfiles(loaded.profiles);
    this.#files.set(key, { agent, unwatch: watchConfig(file, reload) });
    return agent;
  }

  #specsOf({ servers }: Loaded): ServerSpec[] {
    return this.#options.withRuntimeServers?.(servers) ?? servers;
  }

  #apply(agent: AgentFile, loaded: Loaded): void {
    agent.view.apply(this.#specsOf(loaded));
    agent.view.useProfiles(loaded.profiles);
    agent.loaded = loaded;
  }

  /** The warnings of an agent's file, if they are not those of the version that was read before. */
  #logWarnings(loaded: Loaded, before: Loaded | undefined): void {
    const known = new Set(before === undefined ? [] : warningsOf(before).map(warningText));
    for (const text of warningsOf(loaded).map(warningText)) if (!known.has(text)) this.#options.log(text);
  }

  async #reload(key: string): Promise<void> {
    const agent = this.#files.get(key)?.agent;
    if (agent === undefined) return;
    try {
      const loaded = await this.#reread(agent);
      if (!this.#isKept(agent)) return;
      this.#logWarnings(loaded, agent.loaded);
      this.#apply(agent, loaded);
      if (agent.isOver) this.#forget(key);
    } catch (error) {
      this.#options.log(`${agent.file} was not applied: ${messageOf(error)}`);
    }
  }

  /** False for a file that was forgotten while it was read. */
  #isKept(agent: AgentFile): boolean {
    return this.#files.get(keyOf(agent.file, agent.files))?.agent === agent;
  }

  #learned(loaded: Loaded): Loaded {
    this.#options.learn?.(loaded.redactor);
    return loaded;
  }

  /**
   * What the agent's file and the global config say now. Where the agent's file cannot be used, its servers and profiles
   * stay as they are or are withdrawn, and the others still follow the global config.
   */
  async #reread(agent: AgentFile): Promise<Loaded> {
    const { source } = this.#options;
    try {
      const loaded = this.#learned(await rereadHerdConfig(source, agent.file, exemptOf(agent)));
      agent.present();
      return loaded;
    } catch (error) {
      if (!this.#isKept(agent)) return agent.loaded;
      const loss = whyGone(agent.file);
      const withdrawal = loss === undefined ? agent.refused(error) : agent.lost(loss);
      const last = agent.loaded;
      const global = await rereadHerdConfig(source).then(
        (loaded) => this.#learned(loaded),
        () => ({
          servers: last.servers.filter((spec) => !isOfAgent(spec)),
          profiles: globalProfilesOf(last),
        }),
      );
      const own = last.servers.filter(isOfAgent);
      const names = new Set(own.map(({ name }) => name));
      const kept = withdrawal === undefined ? own : own.map((spec) => withdraw(spec, withdrawal));
      return {
        ...last,
        servers: [...global.servers.filter(({ name }) => !names.has(name)), ...kept],
        profiles: new Map([...global.profiles, ...(withdrawal === undefined ? ownProfilesOf(last) : [])]),
      };
    }
  }

  #forget(key: string): void {
    const forgotten = this.#files.get(key);
    this.#files.delete(key);
    forgotten?.unwatch();
    forgotten?.agent.close();
  }
}

function warningsOf({ warnings, agent, redactor }: Loaded): Problem[] {
  return redactor.redactDeep(warnings.filter(({ file }) => file === agent?.file));
}

function warningText({ file, line, column, message, fix }: Problem): string {
  return `${file}:${line}:${column}: ${message}; fix: ${fix}`;
}

/** Clients of the TCP port and of the socket have separate views, because they may use different agent files. */
function keyOf(file: string, files: AgentFiles): string {
  return `${files} ${file}`;
}

function exemptOf({ files }: AgentFile): LoadOptions['exempt'] {
  return files === 'allowed' ? 'none' : 'as-set';
}

function isOfAgent({ origin }: ServerSpec): boolean {
  return origin.scope === 'agent';
}

function ownProfilesOf({ profiles, agent }: Loaded): Loaded['profiles'] {
  return new Map([...profiles].filter(([, { file }]) => file === agent?.file));
}

function globalProfilesOf({ profiles, agent }: Loaded): Loaded['profiles'] {
  return new Map([...profiles].filter(([, { file }]) => file !== agent?.file));
}

/** The server does not run; `status` shows it with the reason. */
function withdraw(spec: ServerSpec, unusable: Withdrawal): ServerSpec {
  return { ...spec, enabled: false, unusable };
}
