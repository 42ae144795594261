import type { Loaded } from '../config/load.js';
import type { Redactor } from '../config/redactor.js';
import type { ServerSpec } from '../config/spec.js';
import { placeOf, TrustRequiredError } from '../config/trust.js';
import { watchConfig } from '../config/watch.js';
import type { Fleet } from '../ipc/fleet.js';
import type { OwnFleet } from '../ipc/views.js';
import type { Clock } from '../link/clock.js';
import type { Herd } from '../supervisor/herd.js';
import type { HerdView } from '../supervisor/herd-view.js';
import { type ConfigPlace, readHerdConfig, rereadHerdConfig } from './config-source.js';
import { inTurn } from './in-turn.js';

export interface AgentsOptions {
  herd: Herd;
  place: ConfigPlace;
  clock: Clock;
  log(text: string): void;
  /** Hears what must not be shown. */
  learn?(secrets: Redactor): void;
  /** The same servers and those that stand in no file. */
  withGuests?(specs: readonly ServerSpec[]): ServerSpec[];
  /** For how long what only an agent's file has goes on when nobody uses that file any more. */
  lingerMs?: number;
}

/** A script that calls every few minutes finds its servers warm. */
const LINGER_MS = 10 * 60 * 1000;

type ToFleet = (view: HerdView) => Fleet;

/** One agent's file, and what it makes of the herd. */
interface AgentFile {
  file: string;
  view: HerdView;
  loaded: Loaded;
  connections: number;
  unwatch(): void;
  timer: unknown;
}

/**
 * The views of the herd: of each agent's file one, which its connections share, and for a connection one of its own
 * where the config has `per-agent` servers. What only a file has is kept for a while when nobody uses it.
 */
export class Agents {
  readonly #options: AgentsOptions;
  readonly #files = new Map<string, AgentFile>();
  readonly #inTurn = inTurn();

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  get views(): HerdView[] {
    return [...this.#files.values()].map(({ view }) => view);
  }

  own(caller: string, toFleet: ToFleet): OwnFleet {
    return this.#ownOf(this.#options.herd, caller, null, toFleet, () => undefined);
  }

  async ofAgent(caller: string, file: string, toFleet: ToFleet): Promise<OwnFleet> {
    const agent = await this.#inTurn(() => this.#open(file));
    agent.connections += 1;
    this.#options.clock.clearTimeout(agent.timer);
    return this.#ownOf(agent.view, caller, agent.file, toFleet, () => this.#left(agent));
  }

  /** The global config has changed, or what is allowed has. */
  async reload(): Promise<void> {
    // looked up when it is its turn: what was just being opened was read before the change
    await this.#inTurn(() => Promise.all([...this.#files.keys()].map((file) => this.#reload(file))));
  }

  /** Somebody came who stands in no file. */
  guestCame(spec: ServerSpec): void {
    for (const { view } of this.#files.values()) if (!view.knows(spec.name)) view.add(spec);
  }

  /** Somebody came or went who stands in no file. */
  guestsChanged(): void {
    for (const agent of this.#files.values()) this.#apply(agent, agent.loaded);
  }

  close(): void {
    for (const agent of this.#files.values()) this.#forget(agent);
  }

  #ownOf(base: HerdView, caller: string, agent: string | null, toFleet: ToFleet, left: () => void): OwnFleet {
    const shared = toFleet(base);
    let own: { view: HerdView; fleet: Fleet } | undefined;
    let state: 'open' | 'closed' = 'open';
    const fork = () => {
      const view = base.fork(caller, agent ?? caller);
      const fleet = toFleet(view);
      // the whole herd is the same for everybody who looks at it
      const status: Fleet['status'] = (names) => (names || agent ? fleet : shared).status(names);
      return { view, fleet: { ...fleet, status } };
    };
    return {
      agent,
      // looked at each time: the config may come to have what is not to be shared
      get fleet() {
        if (base.hasPerAgent && state === 'open') own ??= fork();
        return own?.fleet ?? shared;
      },
      get seen() {
        return own?.fleet ?? shared;
      },
      close() {
        state = 'closed';
        own?.view.close();
        left();
      },
    };
  }

  /** Read anew each time: it may have changed, or its permission may be gone, since somebody last looked. */
  async #open(path: string): Promise<AgentFile> {
    const file = placeOf(path);
    const loaded = this.#learned(await readHerdConfig(this.#options.place, file));
    const known = this.#files.get(file);
    if (known !== undefined) {
      this.#apply(known, loaded);
      return known;
    }
    const view = this.#options.herd.open(file, this.#specsOf(loaded));
    const unwatch = watchConfig(file, () => void this.#inTurn(() => this.#reload(file)));
    const agent: AgentFile = { file, view, loaded, connections: 0, unwatch, timer: undefined };
    this.#files.set(file, agent);
    return agent;
  }

  #specsOf({ servers }: Loaded): ServerSpec[] {
    return this.#options.withGuests?.(servers) ?? servers;
  }

  #apply(agent: AgentFile, loaded: Loaded): void {
    agent.view.apply(this.#specsOf(loaded));
    agent.loaded = loaded;
  }

  /** A file that is wrong, or was changed and not allowed again, leaves its view as it was; of a revoked one nothing runs. */
  async #reload(file: string): Promise<void> {
    const agent = this.#files.get(file);
    if (agent === undefined) return;
    try {
      const loaded = await this.#reread(agent);
      // it may have been forgotten meanwhile
      if (this.#files.get(file) === agent) this.#apply(agent, loaded);
    } catch (error) {
      this.#options.log(`${file} was not applied: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #learned(loaded: Loaded): Loaded {
    this.#options.learn?.(loaded.redactor);
    return loaded;
  }

  async #reread({ file, loaded }: AgentFile): Promise<Loaded> {
    try {
      return this.#learned(await rereadHerdConfig(this.#options.place, file));
    } catch (error) {
      if (!(error instanceof TrustRequiredError) || error.verdict !== 'never') throw error;
      this.#options.log(`${file} was not applied: ${error.message}`);
      return { ...loaded, servers: loaded.servers.map(revoked) };
    }
  }

  #left(agent: AgentFile): void {
    agent.connections -= 1;
    if (agent.connections > 0) return;
    const { clock, lingerMs = LINGER_MS } = this.#options;
    agent.timer = clock.setTimeout(() => this.#forget(agent), lingerMs);
  }

  #forget(agent: AgentFile): void {
    this.#options.clock.clearTimeout(agent.timer);
    this.#files.delete(agent.file);
    agent.unwatch();
    agent.view.close();
  }
}

/** What came from the file is shown, and nothing more. */
function revoked(spec: ServerSpec): ServerSpec {
  return spec.origin.scope === 'agent' ? { ...spec, enabled: false, isRevoked: true } : spec;
}
