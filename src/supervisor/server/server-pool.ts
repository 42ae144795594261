import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerSpec } from '../../config/fields/spec.js';
import { identityOf } from '../spec-identity.js';
import type { ConfiguredServer } from './configured-server.js';

/**
 * The unique key of a server in the herd, for its journal, its log and its events. For most servers it is their name.
 * Where several views have different servers of one name, those after the first get a number. No name holds a control
 * character.
 */
const MARK = '\u0000';

function serverKey(name: string, number: number): string {
  return number === 0 ? name : `${name}${MARK}${number}`;
}

export function nameOfKey(key: string): string {
  return key.split(MARK, 1)[0]!;
}

export interface ServerPoolOptions {
  /** `predecessor` has to be gone before anything of the new one starts. */
  create(spec: ServerSpec, key: string, predecessor: Promise<unknown>): ConfiguredServer;
  /** No server has this key any more. */
  forgotten(key: string): void;
}

/** Who holds servers: a view of the herd. */
export interface Holder {
  /** Unique for each holder. It separates `per-agent` servers. */
  readonly id: string;
  /** Where its agent works. It separates `per-folder` servers. */
  readonly folder?: string | undefined;
  /** Whether this is the view of one agent: its `per-agent` servers run. In a shared view they are placeholders. */
  readonly isOneAgent: boolean;
}

export interface AcquireOptions {
  spec: ServerSpec;
  holder: Holder;
  /** The key of the server that it replaces. */
  key?: string | undefined;
  predecessor: Promise<unknown>;
}

interface PoolEntry {
  poolKey: string;
  identity: string;
  server: ConfiguredServer;
  holders: Set<Holder>;
}

/** Every server of the herd, once for each identity: views that want the same share it. The last release ends it. */
export class ServerPool {
  readonly #options: ServerPoolOptions;
  readonly #entries = new Map<string, PoolEntry>();
  readonly #byServer = new Map<ConfiguredServer, PoolEntry>();
  readonly #byKey = new Map<string, ConfiguredServer>();
  /** Servers without a holder, until nothing of them is left. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #retiring = new Set<ConfiguredServer>();
  /** How many servers have a key: a replacement has the key of the server that is still stopping. */
  readonly #keys = new Map<string, number>();

  constructor(options: ServerPoolOptions) {
    this.#options = options;
  }

  get servers(): ConfiguredServer[] {
    return [...this.#byServer.keys()];
  }

  /** Servers without a holder, some of which still answer calls. */
  get retiring(): ConfiguredServer[] {
    return [...this.#retiring];
  }

  get leaving(): Promise<void>[] {
    return [...this.#leaving.values()];
  }

  at(key: string): ConfiguredServer | undefined {
    return this.#byKey.get(key);
  }

  /** The instances of a `per-agent` server. */
  ofAgents(spec: ServerSpec): ConfiguredServer[] {
    const identity = identityOf(spec);
    const entries = [...this.#entries.values()].filter((entry) => entry.identity === identity);
    return entries.filter(({ holders }) => [...holders].some(isOneAgent)).map(({ server }) => server);
  }

  /** `isNew`: no view had it before. */
  acquire({ spec, holder, key, predecessor }: AcquireOptions): { server: ConfiguredServer; isNew: boolean } {
    const identity = identityOf(spec);
    const own = inFolder(spec, holder.folder);
    const poolKey = poolKeyOf(own, holder);
    const known = this.#entries.get(poolKey);
    if (known !== undefined) {
      known.holders.add(holder);
      return { server: known.server, isNew: false };
    }
    const before = Promise.all([predecessor, this.#leaving.get(poolKey)]);
    const server = this.#options.create(own, key ?? this.#freeKey(spec.name), before);
    const entry = { poolKey, identity, server, holders: new Set([holder]) };
    this.#entries.set(poolKey, entry);
    this.#byServer.set(server, entry);
    this.#byKey.set(server.key, server);
    this.#keys.set(server.key, (this.#keys.get(server.key) ?? 0) + 1);
    return { server, isNew: true };
  }

  /** Resolves when it is gone; undefined where others still hold it. `drains`: its calls in flight may end first. */
  release(server: ConfiguredServer, holder: Holder, drains = true): Promise<void> | undefined {
    const entry = this.#byServer.get(server);
    entry?.holders.delete(holder);
    if (entry === undefined || entry.holders.size > 0) return undefined;
    const { poolKey } = entry;
    const { key } = server;
    this.#entries.delete(poolKey);
    this.#byServer.delete(server);
    this.#byKey.delete(key);
    this.#retiring.add(server);
    const gone = server.retire(drains).then(() => {
      this.#retiring.delete(server);
      if (this.#leaving.get(poolKey) === gone) this.#leaving.delete(poolKey);
      this.#leave(key);
    });
    this.#leaving.set(poolKey, gone);
    return gone;
  }

  #leave(key: string): void {
    const others = (this.#keys.get(key) ?? 0) - 1;
    this.#keys.set(key, others);
    if (others > 0) return;
    this.#keys.delete(key);
    this.#options.forgotten(key);
  }

  #freeKey(name: string): string {
    for (let number = 0; ; number += 1)
      if (!this.#keys.has(serverKey(name, number))) return serverKey(name, number);
  }
}

/** A `per-folder` server runs where its agents work. Roots of its entry count more than that folder. */
function inFolder(spec: ServerSpec, folder: string | undefined): ServerSpec {
  if (spec.sharing !== 'per-folder' || folder === undefined) return spec;
  const root = { uri: pathToFileURL(folder).href, name: basename(folder) || folder };
  const roots = spec.roots.length > 0 ? spec.roots : [root];
  return spec.transport === 'stdio' ? { ...spec, roots, cwd: folder } : { ...spec, roots };
}

/** A placeholder is not shared with the agents' own servers. */
function poolKeyOf(spec: ServerSpec, holder: Holder): string {
  const identity = identityOf(spec);
  const isShared = spec.sharing === 'shared' || (spec.sharing === 'per-folder' && holder.isOneAgent);
  return isShared ? identity : `${identity} ${holder.id}`;
}

const isOneAgent = (holder: Holder) => holder.isOneAgent;
