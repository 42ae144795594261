import type { LocalFleet, ViewScope } from '../../fleet/fleet.js';
import type { Separator } from '../../shared/mcp/separators.js';
import type { Surface, SurfaceMode } from '../../shared/mcp/surface.js';
import type { ConfigProblem } from '../../shared/report/config-problem.js';
import { fleetMethods, fromVerbs } from '../verbs/verbs.js';
import type { AgentFiles, ConnectionFacts, ConnectionView, FleetProvider } from './fleet-provider.js';

/**
 * The fleet of one connection. `fleet` stays the same object when the connection changes to the view of an agent's file,
 * or gets its own `per-agent` servers: its methods use the present view each time, and subscriptions move along.
 */
export class ConnectionFleet implements ConnectionFacts {
  readonly fleet: LocalFleet;
  readonly #provider: FleetProvider;
  readonly caller: string;
  readonly #agentFiles: AgentFiles;
  readonly #subscriptions = new Set<Subscription>();
  #view: ConnectionView;
  /** The fleet whose events the connection gets. */
  #source: LocalFleet;
  #state: 'open' | 'closed' = 'open';
  /** In the public names that the connection lists. Undefined: that of the config. */
  separator: Separator | undefined;
  /** As the client chose it. Undefined: that of the config. */
  surfaceMode: SurfaceMode | undefined;
  /** It counts when the connection first uses a server. */
  folder: string | undefined;

  constructor(provider: FleetProvider, caller: string, agentFiles: AgentFiles = 'trusted') {
    this.#provider = provider;
    this.caller = caller;
    this.#agentFiles = agentFiles;
    this.#view = provider.global(this);
    this.#source = this.#view.fleetForReading();
    this.fleet = {
      ...fromVerbs(({ usesServers }, name) => {
        const present = usesServers ? () => this.#fleetForUse() : () => this.#view.fleetForReading();
        return (...args) => fleetMethods(present())[name](...args);
      }),
      agents: () => this.#view.fleetForReading().agents(this.#scope),
      audit: (params) => this.#view.fleetForReading().audit(params, this.#scope),
      tools: (server, refresh, patience) =>
        this.#fleetForUse().tools(server, refresh, patience, this.separator),
      prompts: (server, refresh, patience) =>
        this.#fleetForUse().prompts(server, refresh, patience, this.separator),
      search: (params) => this.#fleetForUse().search(params, this.separator),
      forward: (params, sink) => this.#fleetForUse().forward(params, sink),
      keptText: (id, owner) => this.#view.fleetForReading().keptText(id, owner),
      instructions: (params) => this.#view.fleetForReading().instructions(params),
      toolsTokens: (server) => this.#view.fleetForReading().toolsTokens(server),
      prepareSearch: () => this.#view.fleetForReading().prepareSearch(),
      watch: (params, listen) => this.#fleetForUse().watch(params, listen),
      subscribe: (...subscription) => this.#subscribe(...subscription),
      shutdown: (graceMs) => this.#view.fleetForReading().shutdown(graceMs),
    };
  }

  get agent(): string | null {
    return this.#view.agent;
  }

  get profile(): string | null {
    return this.#view.profile;
  }

  /** What its view is made from. */
  get viewName(): readonly string[] {
    return [this.agent ?? '', this.profile ?? ''];
  }

  get surface(): Surface {
    const { surface } = this.#view;
    return this.surfaceMode === undefined ? surface : { ...surface, mode: this.surfaceMode };
  }

  get warnings(): readonly ConfigProblem[] {
    return this.#view.warnings;
  }

  /** Rejects where its view has no such server. */
  check(server: string): Promise<void> {
    return this.#view.check(server);
  }

  /**
   * Changes to the view of an agent's file, of a profile, or of both; what is not named stays as it is. Rejects and keeps
   * the present view where it cannot, or has no such server.
   */
  async use({ agent, profile, server }: ChosenView): Promise<void> {
    const file = agent ?? this.agent;
    const part = profile ?? this.profile ?? undefined;
    const next =
      file === null
        ? this.#provider.global(this, part)
        : await this.#provider.ofAgent(this, file, this.#agentFiles, part);
    try {
      if (server !== undefined) await next.check(server);
    } catch (error) {
      next.close();
      throw error;
    }
    if (this.#state === 'closed') {
      next.close();
      return;
    }
    const last = this.#view;
    this.#view = next;
    this.#moveSubscriptions(next.fleetForReading());
    last.close();
  }

  close(): void {
    this.#state = 'closed';
    this.#view.close();
  }

  get #scope(): ViewScope {
    const { agent, profile, caller } = this;
    return { agent, profile, caller };
  }

  /** The call may give the connection its own `per-agent` servers. Then subscriptions move to them. */
  #fleetForUse(): LocalFleet {
    const fleet = this.#view.fleetForUse();
    if (fleet !== this.#source) this.#moveSubscriptions(fleet);
    return fleet;
  }

  #moveSubscriptions(source: LocalFleet): void {
    this.#source = source;
    for (const { begin } of this.#subscriptions) begin();
  }

  #subscribe(...subscribed: Parameters<LocalFleet['subscribe']>): () => void {
    let end = () => {};
    const subscription = {
      begin: () => {
        end();
        end = this.#source.subscribe(...subscribed);
      },
    };
    subscription.begin();
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      end();
    };
  }
}

/** What a client chooses by `fleet/hello`. */
export interface ChosenView {
  /** The full path of an agent's file. */
  agent?: string | undefined;
  profile?: string | undefined;
  /** It must have this server. */
  server?: string | undefined;
}

interface Subscription {
  /** Subscribes at the present source, and ends the last subscription. */
  begin(): void;
}
