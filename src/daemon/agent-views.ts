import { trustedPath } from '../config/file-place.js';
import type { Loaded, LoadOptions } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { lossOf } from '../config/parse/read-file.js';
import type { ServerSpec, Unusable } from '../config/schema/spec.js';
import { AgentFileRefusedError, TrustRequiredError } from '../config/trust.js';
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

/** Why servers of an agent's file may not run any more. */
type Withdrawal = Extract<Unusable, { detail: 'not_allowed' }>;

export interface AgentViewsOptions {
  herd: Herd;
  place: ConfigSource;
  clock: Clock;
  log(text: string): void;
  /** Hears what must not be shown. */
  learn?(secrets: Redactor): void;
  /** The same servers and those that stand in no file. */
  withGuests?(specs: readonly ServerSpec[]): ServerSpec[];
  /** For how long what only an agent's file has goes on when nobody uses that file any more. */
  lingerMs?: number;
}

/** Clients of the port and of the socket have views apart: what the one may use is not what the other may. */
function keyOf({ file, files }: Pick<AgentFile, 'file' | 'files'>): string {
  return `${files} ${file}`;
}

/** A script that calls every few minutes finds its servers warm. */
const LINGER_MS = 10 * 60 * 1000;

/** `git checkout`, `stow` and editors take a file away and bring it back within this time. */
export const MISSING_GRACE_MS = 3000;

type ToFleet = (view: HerdView) => LocalFleet;

/** One agent's file, and what it makes of the herd. */
interface AgentFile {
  file: string;
  /** Which files its connections may name: the file is read again by the same rule. */
  files: AgentFiles;
  view: HerdView;
  loaded: Loaded;
  connections: number;
  unwatch(): void;
  timer: unknown;
  standing: Standing;
}

/**
 * Whether the servers of a file may run. `missing`: the file cannot be read, and its servers go on until the timer
 * fires. `overdue`: the timer has fired. `withdrawn`: the file was revoked, or stayed away; its servers are only shown.
 */
type Standing = { is: 'in use' | 'overdue' | 'withdrawn' } | { is: 'missing'; timer: unknown };

/**
 * The views of the herd: of each agent's file one, which its connections share, and for a connection one of its own
 * where the config has `per-agent` servers. What only a file has is kept for a while when nobody uses it.
 */
export class AgentViews {
  readonly #options: AgentViewsOptions;
  readonly #files = new Map<string, AgentFile>();
  readonly #inTurn = serialize();

  constructor(options: AgentViewsOptions) {
    this.#options = options;
  }

  get views(): HerdView[] {
    return [...this.#files.values()].map(({ view }) => view);
  }

  own(caller: string, toFleet: ToFleet): ConnectionView {
    return this.#ownOf(this.#options.herd.view, caller, null, toFleet, () => undefined);
  }

  async ofAgent(caller: string, file: string, files: AgentFiles, toFleet: ToFleet): Promise<ConnectionView> {
    const agent = await this.#inTurn(() => this.#open(file, files));
    agent.connections += 1;
    this.#options.clock.clearTimeout(agent.timer);
    return this.#ownOf(agent.view, caller, agent.file, toFleet, () => this.#left(agent));
  }

  /** The global config has changed, or what is allowed has. */
  async reload(): Promise<void> {
    // looked up when it is its turn: what was just being opened was read before the change
    await this.#inTurn(() => Promise.all([...this.#files.keys()].map((key) => this.#reload(key))));
  }

  /** Somebody came who stands in no file. */
  serverAdded(spec: ServerSpec): void {
    for (const { view } of this.#files.values()) if (!view.knows(spec.name)) view.add(spec);
  }

  /** Somebody came or went who stands in no file. */
  serversChanged(): void {
    for (const agent of this.#files.values()) this.#apply(agent, agent.loaded);
  }

  close(): void {
    for (const agent of this.#files.values()) this.#forget(agent);
  }

  #ownOf(
    base: HerdView,
    caller: string,
    agent: string | null,
    toFleet: ToFleet,
    left: () => void,
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
    const looking = () => own?.fleet ?? shared;
    return {
      agent,
      looking,
      // asked each time: a reload may bring the first `per-agent` server
      acting() {
        if (base.hasPerAgent && state === 'open') own ??= fork();
        return looking();
      },
      async check(server) {
        base.specOf(server);
      },
      close() {
        state = 'closed';
        own?.view.close();
        left();
      },
    };
  }

  /** Read anew each time: it may have changed, or its permission may be gone, since somebody last looked. */
  async #open(path: string, files: AgentFiles): Promise<AgentFile> {
    const file = trustedPath(path);
    const read = files === 'allowed' ? readAllowedConfig : readHerdConfig;
    const loaded = await read(this.#options.place, file);
    // the error repeats the client's path, so it does not show where links lead
    if (loaded === undefined) throw new AgentFileRefusedError(path);
    this.#learned(loaded);
    const key = keyOf({ file, files });
    const known = this.#files.get(key);
    if (known !== undefined) {
      this.#stand(known, { is: 'in use' });
      this.#apply(known, loaded);
      return known;
    }
    const view = this.#options.herd.open(file, this.#specsOf(loaded));
    const unwatch = watchConfig(file, () => void this.#inTurn(() => this.#reload(key)));
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
    return this.#options.withGuests?.(servers) ?? servers;
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
   * What the agent's file and the global config say now. Where the file cannot be used, its servers stay as they were, or
   * are withdrawn; those of the global config follow the global config all the same.
   */
  async #reread(agent: AgentFile): Promise<Loaded> {
    const { place } = this.#options;
    try {
      const loaded = this.#learned(await rereadHerdConfig(place, agent.file, exemptOf(agent)));
      this.#stand(agent, { is: 'in use' });
      return loaded;
    } catch (error) {
      if (!this.#isKept(agent)) return agent.loaded;
      const withdrawal = this.#withdrawalOf(agent, error);
      const last = agent.loaded.servers;
      const own = last.filter(isOfAgent);
      const names = new Set(own.map(({ name }) => name));
      const global = await rereadHerdConfig(place).then(
        (loaded) => this.#learned(loaded).servers.filter(({ name }) => !names.has(name)),
        () => last.filter((spec) => !isOfAgent(spec)),
      );
      const kept = withdrawal === undefined ? own : own.map((spec) => withdraw(spec, withdrawal));
      return { ...agent.loaded, servers: [...global, ...kept] };
    }
  }

  /** Why the servers of a file that cannot be used may not run any more; undefined where they go on as they were. */
  #withdrawalOf(agent: AgentFile, error: unknown): Withdrawal | undefined {
    const { file } = agent;
    const loss = lossOf(file);
    if (loss !== undefined) return this.#withdrawalOfLost(agent, loss);
    this.#options.log(`${file} was not applied: ${textOf(error)}`);
    const isRevoked = error instanceof TrustRequiredError && error.verdict === 'never';
    if (!isRevoked && agent.standing.is !== 'withdrawn') {
      this.#stand(agent, { is: 'in use' });
      return undefined;
    }
    this.#stand(agent, { is: 'withdrawn' });
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
        void this.#inTurn(() => this.#reload(keyOf(agent)));
      };
      this.#stand(agent, { is: 'missing', timer: clock.setTimeout(overdue, MISSING_GRACE_MS) });
    }
    if (standing.is === 'in use' || standing.is === 'missing') return undefined;
    if (standing.is === 'overdue') log(`${loss}: its servers are stopped`);
    this.#stand(agent, { is: 'withdrawn' });
    return {
      detail: 'not_allowed',
      why: loss,
      fix: `restore ${shellWord(file)}; its servers come back with it`,
    };
  }

  #stand(agent: AgentFile, standing: Standing): void {
    if (agent.standing.is === 'missing') this.#options.clock.clearTimeout(agent.standing.timer);
    agent.standing = standing;
  }

  #left(agent: AgentFile): void {
    agent.connections -= 1;
    if (agent.connections > 0) return;
    const { clock, lingerMs = LINGER_MS } = this.#options;
    if (isOver(agent)) this.#forget(agent);
    else agent.timer = clock.setTimeout(() => this.#forget(agent), lingerMs);
  }

  #forget(agent: AgentFile): void {
    this.#options.clock.clearTimeout(agent.timer);
    this.#stand(agent, { is: 'withdrawn' });
    this.#files.delete(keyOf(agent));
    agent.unwatch();
    agent.view.close();
  }
}

function exemptOf({ files }: AgentFile): LoadOptions['exempt'] {
  return files === 'allowed' ? 'none' : 'as-set';
}

/** A withdrawn file is kept only for connections that may see it come back. */
function isOver({ standing, connections }: AgentFile): boolean {
  return standing.is === 'withdrawn' && connections === 0;
}

function isOfAgent({ origin }: ServerSpec): boolean {
  return origin.scope === 'agent';
}

/** The server is shown, with the reason, and does not run. */
function withdraw(spec: ServerSpec, unusable: Withdrawal): ServerSpec {
  return { ...spec, enabled: false, unusable };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
