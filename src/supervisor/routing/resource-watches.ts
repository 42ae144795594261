import type { WatchParams } from '../../fleet/fleet.js';
import type { MCPError } from '../../shared/call-errors.js';
import { disabled } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { OnUpdate } from '../server/resource-watch.js';
import type { ViewServers } from '../view/view-servers.js';
import { redactedError } from './call-router.js';
import { offersResource, type TargetResolver } from './target-resolver.js';

interface Begun {
  owner: ConfiguredServer;
  end(): void;
}

interface Watch {
  readonly params: WatchParams;
  readonly listen: OnUpdate;
  state: 'settled' | 'moving' | 'ended';
  /** Undefined where no server tells any more; after a change of the config or of a list one may. */
  begun: Begun | undefined;
}

export interface WatchesOptions {
  servers: ViewServers;
  resolver: Pick<TargetResolver, 'ownerOf' | 'holderOf'>;
  redact(text: string, of?: ConfiguredServer): string;
}

/** Who of this view wants to know when a resource changes, whichever server has it. */
export class ResourceWatches {
  readonly #options: WatchesOptions;
  readonly #watches = new Set<Watch>();
  #changes = 0;

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  async watch(params: WatchParams, listen: OnUpdate): Promise<() => void> {
    const watch: Watch = { params, listen, state: 'settled', begun: await this.#begin(params, listen) };
    this.#watches.add(watch);
    // the config may have changed meanwhile
    this.#check(watch);
    return () => this.#end(watch);
  }

  /**
   * The config or a list has changed: what belonged to a server that gave way is asked of the one that took its place,
   * which may say only later what it has. What was asked of a server that does not list it, because the one that does was
   * still starting, is asked of that one now.
   */
  renew(): void {
    this.#changes += 1;
    for (const watch of this.#watches) this.#check(watch);
  }

  end(): void {
    for (const watch of this.#watches) this.#end(watch);
  }

  #end(watch: Watch): void {
    watch.state = 'ended';
    this.#watches.delete(watch);
    this.#leave(watch);
  }

  /** One that is on its way looks where it has arrived. */
  #check(watch: Watch): void {
    if (watch.state !== 'settled') return;
    if (!this.#isHere(watch.begun?.owner) || this.#isElsewhere(watch)) void this.#move(watch);
  }

  #isHere(owner: ConfiguredServer | undefined): boolean {
    return owner !== undefined && this.#options.servers.get(owner.spec.name) === owner;
  }

  /** Another server is known to have it, and the one that was asked is not. */
  #isElsewhere({ params: { uri, server }, begun }: Watch): boolean {
    if (server !== undefined || begun === undefined || offersResource(begun.owner, uri)) return false;
    return this.#options.resolver.holderOf(uri) !== undefined;
  }

  /** A server that is still here tells until another does: the other may not tell of changes at all. */
  async #move(watch: Watch): Promise<void> {
    watch.state = 'moving';
    if (!this.#isHere(watch.begun?.owner)) this.#leave(watch);
    const before = this.#changes;
    const begun = await this.#begin(watch.params, watch.listen).catch(() => undefined);
    if (this.#isOver(watch)) {
      begun?.end();
      return;
    }
    watch.state = 'settled';
    if (begun !== undefined) {
      this.#leave(watch);
      watch.begun = begun;
      watch.listen({ uri: watch.params.uri });
    }
    if (begun !== undefined || before !== this.#changes) this.#check(watch);
  }

  #leave(watch: Watch): void {
    watch.begun?.end();
    watch.begun = undefined;
  }

  /** Looked at anew: it may have come to its end while it was on its way. */
  #isOver({ state }: Watch): boolean {
    return state === 'ended';
  }

  async #begin({ uri, server }: WatchParams, listen: OnUpdate): Promise<Begun> {
    const { resolver, redact } = this.#options;
    const { server: owner } = await resolver.ownerOf(uri, server);
    if (!owner.spec.enabled) throw disabled(owner.spec);
    try {
      return { owner, end: await owner.resources.watch(uri, listen) };
    } catch (error) {
      throw redactedError(error as MCPError, (text) => redact(text, owner));
    }
  }
}
