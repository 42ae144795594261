import type { Loaded, LoadOptions } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { whyGone } from '../config/parse/read-file.js';
import type { ServerSpec, Unusable } from '../config/schema/spec.js';
import { AgentFileRefusedError, TrustRequiredError } from '../config/trust/trust.js';
import { trustedPath } from '../config/trust/trusted-path.js';
import type { Redactor } from '../config/variables/redactor.js';
import { watchConfig } from '../config/watch.js';
import type { Fleet, LocalFleet } from '../fleet/fleet.js';
import type { AgentFiles, ConnectionView } from '../ipc/server/fleet-provider.js';
import { serialize } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { shellWord } from '../shared/shell-word.js';
import type { Herd } from '../supervisor/herd/herd.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { type ConfigSource, readAllowedConfig, readHerdConfig, rereadHerdConfig } from './config-source.js';

/** Why the servers of an agent's file must not run. */
type Withdrawal = Extract<Unusable, { detail: 'not_allowed' }>;

export interface AgentViewsOptions {
  herd: Herd;
  source: ConfigSource;
  clock: Clock;
  log(text: string): void;
  /** Called with the secrets of every config that is read. */
  learn?(secrets: Redactor): void;
  /** Adds the servers that were registered at run time. */
  withRuntimeServers?(specs: readonly ServerSpec[]): ServerSpec[];
  /** How long the servers of an agent's file keep running after its last connection has ended. */
  lingerMs?: number;
}

/** Clients of the TCP port and of the socket have separate views, because they may use different agent files. */
function keyOf({ file, files }: Pick<AgentFile, 'file' | 'files'>): string {
  return `${files} ${file}`;
}

/** A script that runs every few minutes finds its servers still running. */
const LINGER_MS = 10 * 60 * 1000;

/** `git checkout`, `stow` and editors remove a file and write it again within this time. */
export const MISSING_GRACE_MS = 3000;

type ToFleet = (view: HerdView) => LocalFleet;

/** One agent's file, and its view of the herd. */
interface AgentFile {
  file: string;
  /** Which files its connections may name. A reload applies the same rule. */
  files: AgentFiles;
  view: HerdView;
  loaded: Loaded;
  connections: number;
  unwatch(): void;
  timer: unknown;
  standing: Standing;
}

/**
 * Whether the servers of a file may run. `missing`: the file cannot be read; its servers run until the timer fires.
 * `overdue`: the timer has fired. `withdrawn`: the user revoked the file, or it stayed missing; `status` lists its
 * servers, and they do not run.
 */
type Standing = { is: 'in use' | 'overdue' | 'withdrawn' } | { is: 'missing'; timer: unknown };

/**
 * The views of the herd. All connections that name the same agent file share its view. Where the config has `per-agent`
 * servers, each connection also gets a private view. Servers that only an agent file has keep running for `lingerMs`
 * after the last connection of that file has ended.
 */
export class AgentViews {
  readonly #options: AgentViewsOptions;
  readonly #files = new Map<string, AgentFile>();
  readonly #serialized = serialize();

  constructor(options: AgentViewsOptions) {
    this.#options = options;
  }

  get views(): HerdView[] {
    return [...this.#files.values()].map(({ view }) => view);
  }

  /** The view of a connection that names no agent file. */
  global(caller: string, toFleet: ToFleet): ConnectionView {
    return this.#connectionView(this.#options.herd.view, caller, null, toFleet, () => undefined);
  }

  async ofAgent(caller: string, file: string, files: AgentFiles, toFleet: ToFleet): Promise<ConnectionView> {
    const agent = await this.#serialized(() => this.#open(file, files));
    agent.connections += 1;
    this.#options.clock.clearTimeout(agent.timer);
    return this.#connectionView(agent.view, caller, agent.file, toFleet, () => this.#disconnected(agent));
  }

  /** The global config or the trust store has changed. */
  async reload(): Promise<void> {
    // the files are listed inside the queue: a file that is being opened now was read before the change
    await this.#serialized(() => Promise.all([...this.#files.keys()].map((key) => this.#reload(key))));
  }

  /** A server was registered at run time. */
  serverAdded(spec: ServerSpec): void {
    for (const { view } of this.#files.values()) if (!view.knows(spec.name)) view.add(spec);
  }

  /** The servers that were registered at run time have changed. */
  serversChanged(): void {
    for (const agent of this.#files.values()) this.#apply(agent, agent.loaded);
  }

  close(): void {
    for (const agent of this.#files.values()) this.#forget(agent);
  }

  /** `base` as one connection sees it. `closed` runs when the connection leaves the view. */
  #connectionView(
    base: HerdView,
    caller: string,
    agent: string | null,
    toFleet: ToFleet,
    closed: () => void,
  ): ConnectionView {
    const shared = toFleet(base);
    let own: { view: HerdView; fleet: LocalFleet } | undefined;
    let state: 'open' | 'closed' = 'open';
    const fork = () => {
      const view = base.fork(caller, agent ?? caller);
      const fleet = toFleet(view);
      // every connection sees the same global herd
      const status: Fleet['status'] = (names) => (names || agent ? fleet : shared).status(names);
      return { view, fleet: { ...fleet, status } };
    };
    const fleetForReading = () => own?.fleet ?? shared;
    return {
      agent,
      fleetForReading,
      // asked each time: a reload may add the first `per-agent` server
      fleetForUse() {
        if (base.hasPerAgent && state === 'open') own ??= fork();
        return fleetForReading();
      },
      async check(server) {
        base.specOf(server);
      },
      close() {
        state = 'closed';
        own?.view.close();
        closed();
      },
    };
  }

  /** Reads the file each time: it may have changed, or been revoked, since the last connection opened it. */
  async #open(path: string, files: AgentFiles): Promise<AgentFile> {
    const file = trustedPath(path);
    const read = files === 'allowed' ? readAllowedConfig : readHerdConfig;
    const loaded = await read(this.#options.source, file);
    // the error repeats the client's path, so it does not show where links lead
    if (loaded === undefined) throw new AgentFileRefusedError(path);
    this.#learned(loaded);
    const key = keyOf({ file, files });
    const known = this.#files.get(key);
    if (known !== undefined) {
      this.#setStanding(known, { is: 'in use' });
      this.#apply(known, loaded);
      return known;
    }
    const view = this.#options.herd.open(file, this.#specsOf(loaded));
    const unwatch = watchConfig(file, () => void this.#serialized(() => this.#reload(key)));
    const standing: Standing = { is: 'in use' };
    const agent: AgentFile = {
      file,
      files,
      view,
      loaded,
      connections: 0,
      unwatch,
      timer: undefined,
      standing,
    };
    this.#files.set(key, agent);
    return agent;
  }

  #specsOf({ servers }: Loaded): ServerSpec[] {
    return this.#options.withRuntimeServers?.(servers) ?? servers;
  }

  #apply(agent: AgentFile, loaded: Loaded): void {
    agent.view.apply(this.#specsOf(loaded));
    agent.loaded = loaded;
  }

  async #reload(key: string): Promise<void> {
    const agent = this.#files.get(key);
    if (agent === undefined) return;
    try {
      const loaded = await this.#reread(agent);
      if (!this.#isKept(agent)) return;
      this.#apply(agent, loaded);
      if (isOver(agent)) this.#forget(agent);
    } catch (error) {
      this.#options.log(`${agent.file} was not applied: ${textOf(error)}`);
    }
  }

  /** False for a file that was forgotten while it was read. */
  #isKept(agent: AgentFile): boolean {
    return this.#files.get(keyOf(agent)) === agent;
  }

  #learned(loaded: Loaded): Loaded {
    this.#options.learn?.(loaded.redactor);
    return loaded;
  }

  /**
   * What the agent's file and the global config say now. Where the agent's file cannot be used, its servers stay as they
   * are or are withdrawn, and the other servers still follow the global config.
   */
  async #reread(agent: AgentFile): Promise<Loaded> {
    const { source } = this.#options;
    try {
      const loaded = this.#learned(await rereadHerdConfig(source, agent.file, exemptOf(agent)));
      this.#setStanding(agent, { is: 'in use' });
      return loaded;
    } catch (error) {
      if (!this.#isKept(agent)) return agent.loaded;
      const withdrawal = this.#withdrawalOf(agent, error);
      const last = agent.loaded.servers;
      const own = last.filter(isOfAgent);
      const names = new Set(own.map(({ name }) => name));
      const global = await rereadHerdConfig(source).then(
        (loaded) => this.#learned(loaded).servers.filter(({ name }) => !names.has(name)),
        () => last.filter((spec) => !isOfAgent(spec)),
      );
      const kept = withdrawal === undefined ? own : own.map((spec) => withdraw(spec, withdrawal));
      return { ...agent.loaded, servers: [...global, ...kept] };
    }
  }

  /** Why the servers of a file that cannot be used must stop; undefined where they keep running. */
  #withdrawalOf(agent: AgentFile, error: unknown): Withdrawal | undefined {
    const { file } = agent;
    const loss = whyGone(file);
    if (loss !== undefined) return this.#withdrawalOfLost(agent, loss);
    this.#options.log(`${file} was not applied: ${textOf(error)}`);
    const isRevoked = error instanceof TrustRequiredError && error.reason === 'never';
    if (!isRevoked && agent.standing.is !== 'withdrawn') {
      this.#setStanding(agent, { is: 'in use' });
      return undefined;
    }
    this.#setStanding(agent, { is: 'withdrawn' });
    if (!(error instanceof TrustRequiredError))
      return {
        detail: 'not_allowed',
        why: `${file} is back, but could not be applied`,
        fix: `toolherd validate ${shellWord(error instanceof ConfigError ? (error.problems[0]?.file ?? file) : file)}`,
      };
    return {
      detail: 'not_allowed',
      why: isRevoked ? `${file} was revoked` : error.message,
      fix: `toolherd allow ${shellWord(file)}`,
    };
  }

  #withdrawalOfLost(agent: AgentFile, loss: string): Withdrawal | undefined {
    const { clock, log } = this.#options;
    const { file, standing } = agent;
    if (standing.is === 'in use') {
      log(`${loss}: its servers are stopped unless it is back in ${MISSING_GRACE_MS / 1000} s`);
      const overdue = () => {
        agent.standing = { is: 'overdue' };
        void this.#serialized(() => this.#reload(keyOf(agent)));
      };
      this.#setStanding(agent, { is: 'missing', timer: clock.setTimeout(overdue, MISSING_GRACE_MS) });
    }
    if (standing.is === 'in use' || standing.is === 'missing') return undefined;
    if (standing.is === 'overdue') log(`${loss}: its servers are stopped`);
    this.#setStanding(agent, { is: 'withdrawn' });
    return {
      detail: 'not_allowed',
      why: loss,
      fix: `restore ${shellWord(file)}; its servers come back with it`,
    };
  }

  #setStanding(agent: AgentFile, standing: Standing): void {
    if (agent.standing.is === 'missing') this.#options.clock.clearTimeout(agent.standing.timer);
    agent.standing = standing;
  }

  #disconnected(agent: AgentFile): void {
    agent.connections -= 1;
    if (agent.connections > 0) return;
    const { clock, lingerMs = LINGER_MS } = this.#options;
    if (isOver(agent)) this.#forget(agent);
    else agent.timer = clock.setTimeout(() => this.#forget(agent), lingerMs);
  }

  #forget(agent: AgentFile): void {
    this.#options.clock.clearTimeout(agent.timer);
    this.#setStanding(agent, { is: 'withdrawn' });
    this.#files.delete(keyOf(agent));
    agent.unwatch();
    agent.view.close();
  }
}

function exemptOf({ files }: AgentFile): LoadOptions['exempt'] {
  return files === 'allowed' ? 'none' : 'as-set';
}

/** A withdrawn file is kept only while connections use it, since the file may be restored. */
function isOver({ standing, connections }: AgentFile): boolean {
  return standing.is === 'withdrawn' && connections === 0;
}

function isOfAgent({ origin }: ServerSpec): boolean {
  return origin.scope === 'agent';
}

/** The server does not run; `status` shows it with the reason. */
function withdraw(spec: ServerSpec, unusable: Withdrawal): ServerSpec {
  return { ...spec, enabled: false, unusable };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
