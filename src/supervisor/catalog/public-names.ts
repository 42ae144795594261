import type { JsonObject } from '../../shared/json.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { publicNames } from './public-name.js';

type Source = Pick<ConfiguredServer, 'spec' | 'catalog'>;

/** One tool or prompt, and what it is called in the whole herd. */
export interface PublicEntry {
  server: Source;
  name: string;
  exposedName: string;
  definition: JsonObject;
}

/**
 * Everything of one kind that is known of the herd, under the names that the whole herd gives it: what something is
 * called must not depend on who asks.
 */
export class PublicNames {
  readonly all: readonly PublicEntry[];
  readonly #byName: ReadonlyMap<string, PublicEntry>;

  constructor(list: 'tools' | 'prompts', servers: readonly Source[]) {
    const known = servers.flatMap((server) =>
      (server.catalog.lists[list] ?? []).map((definition) => ({
        server,
        name: String(definition.name),
        definition,
      })),
    );
    const names = publicNames(
      known.map(({ server, name }) => ({ server: server.spec.name, name })),
      servers.map(({ spec }) => spec.name),
    );
    this.all = known.map((one, index) => ({ ...one, exposedName: names[index]! }));
    this.#byName = new Map(this.all.map((one) => [one.exposedName, one]));
  }

  /** By its name in the herd. */
  find(exposedName: string): PublicEntry | undefined {
    return this.#byName.get(exposedName);
  }

  /** The name of the server that has what is called so in the herd. */
  ownerOf(exposedName: string): string | undefined {
    return this.#byName.get(exposedName)?.server.spec.name;
  }

  /** What a server itself calls the one that has this name in the herd. */
  ownName(server: string, exposedName: string): string | undefined {
    const found = this.#byName.get(exposedName);
    return found?.server.spec.name === server ? found.name : undefined;
  }
}
