import type { PromptEntry, ResourceLists, ToolEntry } from '../ipc/fleet.js';
import type { Clock } from '../link/clock.js';
import type { ConfiguredServer } from './configured-server.js';
import { listsTooLate } from './errors.js';
import { exposedPrefix } from './exposed-name.js';
import { type Exposed, Exposure } from './exposure.js';
import type { ListName } from './lists.js';
import type { Members } from './members.js';
import { promptEntry } from './prompt-list.js';
import { resourceEntries, templateEntries } from './resource-list.js';
import { toolEntry } from './tool-list.js';

type Named = 'tools' | 'prompts';

/** What the whole herd offers, and who is meant by a name. */
export class Offers {
  readonly #members: Members;
  readonly #clock: Clock;
  /** Worked out when it is needed: an agent calls by these names, and a herd may have thousands. */
  readonly #exposures = new Map<Named, Exposure>();

  constructor(members: Members, clock: Clock) {
    this.#members = members;
    this.#clock = clock;
  }

  /** Something else is offered, or somebody else offers it. */
  changed(): void {
    this.#exposures.clear();
  }

  async tools(name?: string, refresh = false): Promise<ToolEntry[]> {
    return (await this.#exposed('tools', name, refresh)).map(toolEntry);
  }

  async prompts(name?: string, refresh = false): Promise<PromptEntry[]> {
    return (await this.#exposed('prompts', name, refresh)).map(promptEntry);
  }

  async resources(name?: string, refresh = false): Promise<ResourceLists> {
    const servers = await this.#read('resources', name, refresh);
    return { resources: servers.flatMap(resourceEntries), templates: servers.flatMap(templateEntries) };
  }

  /** What the server itself calls it: its own names count first, then those of the herd. */
  ownName(list: Named, { spec, catalog }: ConfiguredServer, name: string): string {
    if (!looksExposed(spec.name, name) || catalog.keysOf(list)?.has(name)) return name;
    return this.#exposure(list).ownName(spec.name, name) ?? name;
  }

  /**
   * Whose it is, by its name in the herd. Where nobody is known to have it, the server whose name it begins with may
   * have it by now; else those that were never seen are asked what they have.
   */
  async findOwner(list: Named, exposedName: string): Promise<string | undefined> {
    const known = this.#exposure(list).ownerOf(exposedName) ?? this.#longestPrefix(exposedName);
    if (known !== undefined) return known;
    await this.#read(list, undefined, false);
    return this.#exposure(list).ownerOf(exposedName);
  }

  /** Whose it is and what that server calls it, where that is known; by its name in the herd. */
  holderOf(list: Named, exposedName: string): { server: string; name: string } | undefined {
    const found = this.#exposure(list).find(exposedName);
    return found && { server: found.server.spec.name, name: found.name };
  }

  /** Every name in the herd that is known. */
  names(list: Named): string[] {
    return this.#exposure(list).all.map(({ exposedName }) => exposedName);
  }

  #longestPrefix(exposedName: string): string | undefined {
    const names = this.#members.names.filter((name) => looksExposed(name, exposedName));
    return names.sort((a, b) => b.length - a.length)[0];
  }

  /**
   * Whether the server should be asked what it has before it can be said who is meant: the name is not in a list that
   * may be outdated, or it is one of the herd's and nothing is known yet.
   */
  isUnsure(list: Named, server: ConfiguredServer, name: string): boolean {
    const { spec, catalog } = server;
    const isWanted = list === 'tools' ? spec.loadTools : spec.loadPrompts;
    if (!spec.enabled || !isWanted) return false;
    const mayBeExposed = looksExposed(spec.name, name);
    const keys = catalog.keysOf(list);
    if (keys === undefined) return catalog.isMissing && mayBeExposed;
    // whatever the server says, this one is hidden
    if (list === 'tools' && !mayBeExposed && !catalog.hasTool(name)) return false;
    return catalog.isDoubted(list) && !keys.has(this.ownName(list, server, name));
  }

  /**
   * Asks the server what it has. Resolves when that is known, or will not be, or nobody wants to know: with what is
   * left of the time that whoever asks has for it.
   */
  async makeSure(
    server: ConfiguredServer,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<number | undefined> {
    const begun = this.#clock.now();
    const reading = server.readLists(true, undefined, timeoutMs);
    if (signal === undefined) await reading;
    else await Promise.race([reading, aborted(signal, reading)]);
    if (timeoutMs === undefined) return undefined;
    const leftMs = timeoutMs - (this.#clock.now() - begun);
    if (leftMs <= 0) throw listsTooLate(server.spec.name, timeoutMs);
    return leftMs;
  }

  async #exposed(list: Named, name: string | undefined, refresh: boolean): Promise<Exposed[]> {
    await this.#read(list, name, refresh);
    return this.#exposure(list).all.filter(({ server }) => name === undefined || server.spec.name === name);
  }

  async #read(list: ListName, name: string | undefined, refresh: boolean): Promise<ConfiguredServer[]> {
    const asked = name === undefined ? this.#members.servers : [this.#members.find(name)];
    await Promise.all(asked.map((server) => server.readLists(refresh, list)));
    return asked;
  }

  #exposure(list: Named): Exposure {
    const exposure = this.#exposures.get(list) ?? new Exposure(list, this.#members.servers);
    this.#exposures.set(list, exposure);
    return exposure;
  }
}

/** Resolves with the abort; whatever comes first, nothing listens afterwards. */
function aborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    signal.addEventListener('abort', done, { once: true });
    void work.finally(() => signal.removeEventListener('abort', done));
  });
}

/** Cheap, so that a call by its own name costs nothing more. */
function looksExposed(server: string, name: string): boolean {
  return name.startsWith(exposedPrefix(server));
}
