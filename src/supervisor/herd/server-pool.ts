import type { ServerSpec } from '../../config/schema/spec.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { identityOf } from '../spec-identity.js';
import { slotOf } from './server-key.js';

export interface PoolOptions {
  /** `predecessor` has to be gone before anything of the new one starts. */
  create(spec: ServerSpec, slot: string, predecessor: Promise<unknown>): ConfiguredServer;
  /** Nothing is left of what had this slot. */
  forgotten(slot: string): void;
}

/** Who holds servers: a view of the herd. */
export interface Holder {
  /** No other has this one: it tells apart what is `per-agent`. */
  readonly id: string;
  /** Whether it stands for one agent, whose `per-agent` servers are to run; for others they are only there to be seen. */
  readonly isOneAgent: boolean;
}

export interface Wish {
  spec: ServerSpec;
  holder: Holder;
  /** The slot of the one that it takes over from. */
  slot?: string | undefined;
  predecessor: Promise<unknown>;
}

interface Stay {
  key: string;
  server: ConfiguredServer;
  holders: Set<Holder>;
}

/** Every server that is there, once for each identity: whoever wants the same shares it. The last one who lets go ends it. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #stays = new Map<string, Stay>();
  readonly #byServer = new Map<ConfiguredServer, Stay>();
  readonly #bySlot = new Map<string, ConfiguredServer>();
  /** Those that nobody holds any more, until they are no more. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** How many servers have a slot: one that takes over has that of the one that still goes. */
  readonly #slots = new Map<string, number>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get servers(): ConfiguredServer[] {
    return [...this.#byServer.keys()];
  }

  get leaving(): Promise<void>[] {
    return [...this.#leaving.values()];
  }

  at(slot: string): ConfiguredServer | undefined {
    return this.#bySlot.get(slot);
  }

  /** What agents have of a `per-agent` server, each its own. */
  ofAgents(spec: ServerSpec): ConfiguredServer[] {
    const identity = identityOf(spec);
    const stays = [...this.#stays.values()].filter(({ key }) => key.startsWith(identity));
    return stays.filter(({ holders }) => [...holders].some(isOneAgent)).map(({ server }) => server);
  }

  /** `isNew`: nobody had it before. */
  take({ spec, holder, slot, predecessor }: Wish): { server: ConfiguredServer; isNew: boolean } {
    const identity = identityOf(spec);
    const key = spec.sharing === 'per-agent' ? `${identity} ${holder.id}` : identity;
    const known = this.#stays.get(key);
    if (known !== undefined) {
      known.holders.add(holder);
      return { server: known.server, isNew: false };
    }
    const before = Promise.all([predecessor, this.#leaving.get(key)]);
    const server = this.#options.create(spec, slot ?? this.#freeSlot(spec.name), before);
    const stay = { key, server, holders: new Set([holder]) };
    this.#stays.set(key, stay);
    this.#byServer.set(server, stay);
    this.#bySlot.set(server.slot, server);
    this.#slots.set(server.slot, (this.#slots.get(server.slot) ?? 0) + 1);
    return { server, isNew: true };
  }

  /** Resolves when it is gone; undefined where others still hold it. */
  giveBack(server: ConfiguredServer, holder: Holder): Promise<void> | undefined {
    const stay = this.#byServer.get(server);
    stay?.holders.delete(holder);
    if (stay === undefined || stay.holders.size > 0) return undefined;
    const { key } = stay;
    const { slot } = server;
    this.#stays.delete(key);
    this.#byServer.delete(server);
    this.#bySlot.delete(slot);
    const gone = server.retire().then(() => {
      if (this.#leaving.get(key) === gone) this.#leaving.delete(key);
      this.#leave(slot);
    });
    this.#leaving.set(key, gone);
    return gone;
  }

  #leave(slot: string): void {
    const others = (this.#slots.get(slot) ?? 0) - 1;
    this.#slots.set(slot, others);
    if (others > 0) return;
    this.#slots.delete(slot);
    this.#options.forgotten(slot);
  }

  #freeSlot(name: string): string {
    for (let number = 0; ; number += 1)
      if (!this.#slots.has(slotOf(name, number))) return slotOf(name, number);
  }
}

const isOneAgent = (holder: Holder) => holder.isOneAgent;
