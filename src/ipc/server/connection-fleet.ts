import type { Fleet } from '../../fleet/fleet.js';
import type { AgentFiles, ConnectionView, FleetProvider } from './fleet-provider.js';

/** What makes a connection an agent. Whoever only looks at the herd needs no servers of his own for it. */
const ACTS: ReadonlySet<keyof Fleet> = new Set([
  'tools',
  'prompts',
  'resources',
  'prompt',
  'resource',
  'request',
  'forward',
  'watch',
  'call',
  'callMany',
  'broadcast',
]);

interface Subscription {
  begin(): void;
  end(): void;
}

/** What one connection sees of the herd. `fleet` stays the same object when it comes to see another one. */
export class ConnectionFleet {
  readonly fleet: Fleet;
  readonly #views: FleetProvider;
  readonly #caller: string;
  readonly #agentFiles: AgentFiles;
  readonly #subscriptions = new Set<Subscription>();
  #own: ConnectionView;
  /** What is subscribed to. */
  #subscription: Fleet;
  #state: 'open' | 'closed' = 'open';

  constructor(views: FleetProvider, caller: string, agentFiles: AgentFiles = 'trusted') {
    this.#views = views;
    this.#caller = caller;
    this.#agentFiles = agentFiles;
    this.#own = views.own(caller);
    this.#subscription = this.#own.seen;
    const all = new Proxy({} as Fleet, {
      get: (_, name: keyof Fleet) => {
        if (name === 'subscribe') return this.#subscribe;
        return (ACTS.has(name) ? this.#acting() : this.#own.seen)[name];
      },
    });
    // every call goes by this one, and a Proxy would be a good part of what it costs
    this.fleet = Object.create(all, { forward: { get: () => this.#acting().forward } });
  }

  get agent(): string | null {
    return this.#own.agent;
  }

  /** Rejects where its view has no such server. */
  check(server: string): Promise<void> {
    return this.#own.check(server);
  }

  /** Sees the herd as an agent's file has it. Where that cannot be, or has no such server, it sees what it saw before. */
  async look(file: string, server?: string): Promise<void> {
    const next = await this.#views.ofAgent(this.#caller, file, this.#agentFiles);
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
    const last = this.#own;
    this.#own = next;
    this.#resubscribe(next.seen);
    last.close();
  }

  close(): void {
    this.#state = 'closed';
    this.#own.close();
  }

  /** It may just have got servers of its own: then those are to be heard. */
  #acting(): Fleet {
    const { fleet } = this.#own;
    if (fleet !== this.#subscription) this.#resubscribe(fleet);
    return fleet;
  }

  #resubscribe(fleet: Fleet): void {
    this.#subscription = fleet;
    for (const { begin } of this.#subscriptions) begin();
  }

  readonly #subscribe: Fleet['subscribe'] = (topics, listen) => {
    let end = () => {};
    const subscription = {
      begin: () => {
        end();
        end = this.#subscription.subscribe(topics, listen);
      },
      end: () => end(),
    };
    subscription.begin();
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      subscription.end();
    };
  };
}
