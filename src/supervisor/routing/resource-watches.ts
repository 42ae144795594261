import type { WatchParams } from '../../fleet/fleet.js';
import { asCallError } from '../../shared/call-errors.js';
import { disabled } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { OnUpdate } from '../server/resource-watch.js';
import type { ViewServers } from '../view/view-servers.js';
import { redactedError } from './redacted-error.js';
import { offersResource, type TargetResolver } from './target-resolver.js';

interface Begun {
  owner: ConfiguredServer;
  end(): void;
}

interface Watch {
  readonly params: WatchParams;
  readonly listen: OnUpdate;
  state: 'settled' | 'moving' | 'ended';
  /** Undefined where no server is watched; after a change of the config or of a list one may be. */
  begun: Begun | undefined;
}

export interface WatchesOptions {
  servers: ViewServers;
  resolver: Pick<TargetResolver, 'findOwnerByUri' | 'ownerByUri'>;
  redact(text: string, of?: ConfiguredServer): string;
  /** Logs bugs. */
  warn(text: string): void;
}

/** The resource watches of one view. A watch moves when another server takes over its resource. */
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
   * The config or a list has changed. Watches of a replaced server move to its successor, once that has listed its
   * resources. A watch at a server that does not list the resource moves to the one that does.
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

  /** A watch that is moving is checked again when the move ends. */
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
    return this.#options.resolver.ownerByUri(uri) !== undefined;
  }

  /** A server that is still in the view is watched until the other one agrees: that one may refuse watches. */
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

  /** Re-read after an await: the caller may have ended the watch. */
  #isOver({ state }: Watch): boolean {
    return state === 'ended';
  }

  async #begin({ uri, server, ownOnly }: WatchParams, listen: OnUpdate): Promise<Begun> {
    const { resolver, redact, warn } = this.#options;
    const { server: owner } = await resolver.findOwnerByUri(uri, server);
    if (!owner.spec.enabled) throw disabled(owner.spec);
    try {
      return { owner, end: await owner.resources.watch(uri, listen, ownOnly) };
    } catch (error) {
      throw redactedError(asCallError(error, warn), (text) => redact(text, owner));
    }
  }
}
