import type { WatchParams } from '../ipc/fleet.js';
import type { MCPError } from '../link/errors.js';
import { told } from './ask-server.js';
import type { ConfiguredServer } from './configured-server.js';
import { disabled } from './errors.js';
import type { LookupOptions } from './lookups.js';
import type { Requests } from './requests.js';
import type { OnUpdate } from './resource-watch.js';

interface Watch {
  params: WatchParams;
  listen: OnUpdate;
  owner: ConfiguredServer;
  end(): void;
}

export interface WatchesOptions extends Pick<LookupOptions, 'members' | 'redact'> {
  requests: Pick<Requests, 'ownerOf'>;
}

/** Who of this view wants to know when a resource changes, whichever server has it. */
export class ResourceWatches {
  readonly #options: WatchesOptions;
  readonly #watches = new Set<Watch>();

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  async watch(params: WatchParams, listen: OnUpdate): Promise<() => void> {
    const watch: Watch = { params, listen, ...(await this.#begin(params, listen)) };
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      watch.end();
    };
  }

  /** The config has changed: what belonged to a server that gave way is asked of the one that took its place. */
  renew(): void {
    const { members } = this.#options;
    for (const watch of this.#watches) {
      if (members.get(watch.owner.spec.name) !== watch.owner) void this.#renew(watch);
    }
  }

  end(): void {
    for (const { end } of this.#watches) end();
    this.#watches.clear();
  }

  async #renew(watch: Watch): Promise<void> {
    const { params, listen } = watch;
    (await import('node:fs')).appendFileSync('/tmp/h2-debug.log', `renew ${process.pid} ${Date.now()}\n`);
    watch.end();
    watch.end = () => undefined;
    try {
      const begun = await this.#begin(params, listen);
      if (!this.#watches.has(watch)) begun.end();
      else {
        Object.assign(watch, begun);
        listen({ uri: params.uri });
      }
    } catch (error) {
      (await import('node:fs')).appendFileSync('/tmp/h2-debug.log', `${String((error as Error).stack)}\n`);
      // nobody has it any more: there is nothing that could be told
    }
  }

  async #begin({ uri, server }: WatchParams, listen: OnUpdate): Promise<Pick<Watch, 'owner' | 'end'>> {
    const { requests, redact } = this.#options;
    const owner = await requests.ownerOf(uri, server);
    if (!owner.spec.enabled) throw disabled(owner.spec);
    try {
      return { owner, end: await owner.resources.watch(uri, listen) };
    } catch (error) {
      throw told(error as MCPError, redact);
    }
  }
}
