import type { Fleet, LocalFleet } from '../fleet/fleet.js';
import type { ConnectionFacts, ConnectionView } from '../ipc/server/fleet-provider.js';
import type { Surface } from '../shared/mcp/surface.js';
import type { ConfigProblem } from '../shared/report/config-problem.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';

export type ToFleet = (view: HerdView) => LocalFleet;

export interface AgentConnectionViewOptions {
  /** The view that it shares with other connections. */
  base: HerdView;
  connection: ConnectionFacts;
  /** The agent's file; null: the global view. */
  agent: string | null;
  /** The profile of `base`; null: none. */
  profile: string | null;
  /** Of the agent's file. */
  warnings: readonly ConfigProblem[];
  toFleet: ToFleet;
  /** By the present config. */
  surface(): Surface;
  /** The connection leaves the view. */
  onClosed(): void;
}

/** The herd as one connection sees it: a shared view, or a fork of it with its own `per-agent` servers. */
export class AgentConnectionView implements ConnectionView {
  readonly #options: AgentConnectionViewOptions;
  readonly #shared: LocalFleet;
  #own: { view: HerdView; fleet: LocalFleet } | undefined;
  #state: 'open' | 'closed' = 'open';

  constructor(options: AgentConnectionViewOptions) {
    this.#options = options;
    this.#shared = options.toFleet(options.base);
  }

  get agent(): string | null {
    return this.#options.agent;
  }

  get profile(): string | null {
    return this.#options.profile;
  }

  get warnings(): readonly ConfigProblem[] {
    return this.#options.warnings;
  }

  get surface(): Surface {
    return this.#options.surface();
  }

  fleetForReading(): LocalFleet {
    return this.#own?.fleet ?? this.#shared;
  }

  fleetForUse(): LocalFleet {
    // asked each time: a reload may add the first `per-agent` server
    if (this.#options.base.hasPerAgent && this.#state === 'open') this.#own ??= this.#fork();
    return this.fleetForReading();
  }

  async check(server: string): Promise<void> {
    this.#options.base.specOf(server);
  }

  close(): void {
    this.#state = 'closed';
    this.#own?.view.close();
    this.#options.onClosed();
  }

  #fork(): { view: HerdView; fleet: LocalFleet } {
    const { base, connection, agent, toFleet } = this.#options;
    const { caller, folder } = connection;
    const view = base.fork(caller, agent ?? caller, folder);
    const fleet = toFleet(view);
    // every connection sees the same global herd
    const status: Fleet['status'] = (names) => (names || agent ? fleet : this.#shared).status(names);
    const history: Fleet['history'] = (params) =>
      (params?.servers || agent ? fleet : this.#shared).history(params);
    return { view, fleet: { ...fleet, status, history } };
  }
}
