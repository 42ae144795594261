import type { ServerSpec } from '../../config/fields/spec.js';
import type { Link, Opened, Unwatch } from '../../link/link.js';
import { type MCPError, MCPProtocolError, ServerUnavailableError } from '../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { RESOURCE_UPDATED, SUBSCRIPTION_ID_KEY } from '../../shared/mcp/mcp-names.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { OpenLink } from './link-actor.js';

export interface ResourceWatchOptions {
  /** The server's name, for messages. */
  name: string;
  /** There is a process for each call, and none between them. */
  isTransient: boolean;
  /** Whether this spec is of what runs on this node, and not of a connection to another one. */
  isHere(spec: ServerSpec): boolean;
  /** Resolves when a process runs; rejects with the reason why none will. `ownOnly`: it has to run on this node. */
  wake(ownOnly: boolean): Promise<void>;
  note(text: string): void;
}

/** The params of a server's update: `uri`, and fields that toolherd does not know. */
export type OnUpdate = (params: JsonObject) => void;

interface Listener {
  readonly tell: OnUpdate;
  /** It is another node of the cluster, which gets no updates of a third one: two nodes would tell each other for ever. */
  readonly ownOnly: boolean;
}

interface Watched {
  readonly listeners: Set<Listener>;
  /** The processes that are subscribed. */
  readonly asked: Map<Link, Promise<Unwatch>>;
  /** Resolves when one process agreed: any, for listeners that are not `ownOnly`. Undefined where no listener needs it. */
  begun: Promise<void> | undefined;
  /** The same for listeners that are: of a process on this node. */
  begunHere: Promise<void> | undefined;
  hasBegun: boolean;
}

interface OpenProcess {
  opened: Opened;
  isHere: boolean;
}

/**
 * The subscribers to resources of this server. A process gets one subscription for each URI; the last subscriber that
 * leaves ends it. A new process is subscribed again. Changes in between were missed, so every subscriber gets an update
 * then.
 */
export class ResourceWatch {
  readonly #options: ResourceWatchOptions;
  readonly #open = new Map<Link, OpenProcess>();
  readonly #watched = new Map<string, Watched>();
  /** Subscriptions that are being ended: each has to be over before the same URI is subscribed again. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  constructor(options: ResourceWatchOptions) {
    this.#options = options;
  }

  get isWatched(): boolean {
    return this.#watched.size > 0;
  }

  /** Some subscriber may be told by another node. */
  get isWatchedAnywhere(): boolean {
    return [...this.#watched.values()].some(({ begun }) => begun !== undefined);
  }

  /** Opens links and taps their notifications. */
  tap(open: OpenLink): OpenLink {
    return (spec, incarnation, on) => {
      const isHere = this.#options.isHere(spec);
      const link = open(spec, incarnation, {
        opened: (opened) => {
          on.opened(opened);
          this.#opened(link, { opened, isHere });
        },
        notification: (method, params) => {
          on.notification(method, params);
          if (method === RESOURCE_UPDATED && params !== undefined) this.#updated(params, isHere);
        },
        ended: (ending) => {
          this.#ended(link);
          on.ended(ending);
        },
      });
      return link;
    };
  }

  /** Starts the server as a call would. Resolves with the function that ends it; rejects where no update would come. */
  async watch(uri: string, listen: OnUpdate, ownOnly = false): Promise<() => void> {
    if (this.#options.isTransient) throw noProcessStays(this.#options.name);
    // a new object, so that one function may subscribe twice
    const listener: Listener = { tell: (params) => listen(params), ownOnly };
    const watched = this.#watched.get(uri) ?? this.#begin(uri);
    watched.listeners.add(listener);
    const end = () => this.#leave(uri, watched, listener);
    try {
      if (ownOnly) await (watched.begunHere ??= this.#askAny(uri, watched, true));
      else await (watched.begun ??= this.#askAny(uri, watched, false));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #begin(uri: string): Watched {
    const watched: Watched = {
      ...{ listeners: new Set<Listener>(), asked: new Map<Link, Promise<Unwatch>>() },
      ...{ begun: undefined, begunHere: undefined, hasBegun: false },
    };
    this.#watched.set(uri, watched);
    return watched;
  }

  /** One subscribed process is enough. */
  async #askAny(uri: string, watched: Watched, ownOnly: boolean): Promise<void> {
    await this.#leaving.get(uri);
    if (this.#links(ownOnly).length === 0) await this.#options.wake(ownOnly);
    const asked = this.#links(ownOnly).map((link) => this.#ask(link, uri, watched));
    if (asked.length === 0) throw gone(this.#options.name);
    await Promise.any(asked).catch(({ errors }: AggregateError) => {
      throw errors[0];
    });
    watched.hasBegun = true;
  }

  #links(ownOnly: boolean): Link[] {
    const open = [...this.#open].filter(
      ([{ session }, { isHere }]) => session.state === 'open' && (isHere || !ownOnly),
    );
    return open.map(([link]) => link);
  }

  #ask(link: Link, uri: string, watched: Watched): Promise<Unwatch> {
    const known = watched.asked.get(link);
    if (known !== undefined) return known;
    const { name } = this.#options;
    const asked = tells(this.#open.get(link)?.opened)
      ? link.watch(uri)
      : Promise.reject(doesNotTell(name, uri));
    watched.asked.set(link, asked);
    asked.catch(() => watched.asked.delete(link));
    return asked;
  }

  #opened(link: Link, open: OpenProcess): void {
    this.#open.set(link, open);
    for (const [uri, watched] of this.#watched) {
      if (!open.isHere && watched.begun === undefined) continue;
      this.#ask(link, uri, watched).then(
        () => watched.hasBegun && tell(watched, { uri }, open.isHere),
        (error: MCPError) => this.#options.note(`its subscribers get no changes of ${uri}: ${error.message}`),
      );
    }
  }

  #ended(link: Link): void {
    this.#open.delete(link);
    for (const { asked } of this.#watched.values()) asked.delete(link);
  }

  /** It may be about a part of what is watched. */
  #updated(params: JsonObject, isHere: boolean): void {
    const { uri } = params;
    if (typeof uri !== 'string') return;
    const said = withoutId(params);
    for (const [watchedUri, watched] of this.#watched) {
      const folder = watchedUri.endsWith('/') ? watchedUri : `${watchedUri}/`;
      if (uri === watchedUri || uri.startsWith(folder)) tell(watched, said, isHere);
    }
  }

  #leave(uri: string, watched: Watched, listener: Listener): void {
    if (!watched.listeners.delete(listener)) return;
    const left = [...watched.listeners];
    // the next listener asks anew
    if (!left.some(({ ownOnly }) => ownOnly)) watched.begunHere = undefined;
    if (left.every(({ ownOnly }) => ownOnly)) watched.begun = undefined;
    if (left.length > 0) return;
    if (this.#watched.get(uri) === watched) this.#watched.delete(uri);
    const asked = [...watched.asked.values()];
    const ended = Promise.allSettled(asked.map(async (unwatch) => (await unwatch)())).then(() => {
      if (this.#leaving.get(uri) === ended) this.#leaving.delete(uri);
    });
    this.#leaving.set(uri, ended);
  }
}

/** `isHere`: a process on this node says it. */
function tell({ listeners }: Watched, params: JsonObject, isHere: boolean): void {
  for (const { tell: listen, ownOnly } of [...listeners]) if (isHere || !ownOnly) listen(params);
}

function tells(opened: Opened | undefined): boolean {
  const resources = opened?.capabilities.resources;
  return isObject(resources) && resources.subscribe === true;
}

function withoutId({ _meta: meta, ...params }: JsonObject): JsonObject {
  if (!isObject(meta)) return params;
  const { [SUBSCRIPTION_ID_KEY]: _, ...others } = meta;
  return Object.keys(others).length === 0 ? params : { ...params, _meta: others };
}

function doesNotTell(name: string, uri: string): MCPError {
  const message = `${name}: does not report changes of resources, so ${uri} cannot be subscribed to`;
  const why = "its capabilities do not have 'resources.subscribe'";
  const text = `${message}: ${why}; read the resource again when it is needed`;
  return new MCPProtocolError(message, {
    why,
    fix: 'read the resource again when it is needed',
    rpc: { code: CODE.methodNotFound, message: text },
  });
}

function noProcessStays(name: string): MCPError {
  return new ServerUnavailableError(`${name}: its resources cannot be subscribed to`, {
    why: "it is 'lifecycle: transient', so no process stays to report a change",
    fix: "set 'lifecycle: singleton', or read the resource again when it is needed",
  });
}

function gone(name: string): MCPError {
  return new ServerUnavailableError(`${name}: ended before toolherd could subscribe`, {
    retryable: true,
    fix: `see "toolherd why ${shellWord(name)}"`,
  });
}
