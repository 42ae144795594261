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
  /** Resolves when a process runs; rejects with the reason why none will. */
  wake(): Promise<void>;
  note(text: string): void;
}

/** The params of a server's update: `uri`, and fields that toolherd does not know. */
export type OnUpdate = (params: JsonObject) => void;

interface Watched {
  readonly listeners: Set<OnUpdate>;
  /** The processes that are subscribed. */
  readonly asked: Map<Link, Promise<Unwatch>>;
  begun: Promise<void>;
  hasBegun: boolean;
}

/**
 * The subscribers to resources of this server. A process gets one subscription for each URI; the last subscriber that
 * leaves ends it. A new process is subscribed again. Changes in between were missed, so every subscriber gets an update
 * then.
 */
export class ResourceWatch {
  readonly #options: ResourceWatchOptions;
  readonly #open = new Map<Link, Opened>();
  readonly #watched = new Map<string, Watched>();
  /** Subscriptions that are being ended: each has to be over before the same URI is subscribed again. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  constructor(options: ResourceWatchOptions) {
    this.#options = options;
  }

  get isWatched(): boolean {
    return this.#watched.size > 0;
  }

  /** Opens links and taps their notifications. */
  tap(open: OpenLink): OpenLink {
    return (spec, incarnation, on) => {
      const link = open(spec, incarnation, {
        opened: (opened) => {
          on.opened(opened);
          this.#opened(link, opened);
        },
        notification: (method, params) => {
          on.notification(method, params);
          if (method === RESOURCE_UPDATED && params !== undefined) this.#updated(params);
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
  async watch(uri: string, listen: OnUpdate): Promise<() => void> {
    if (this.#options.isTransient) throw noProcessStays(this.#options.name);
    // a new object, so that one function may subscribe twice
    const listener: OnUpdate = (params) => listen(params);
    const watched = this.#watched.get(uri) ?? this.#begin(uri);
    watched.listeners.add(listener);
    const end = () => this.#leave(uri, watched, listener);
    try {
      await watched.begun;
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #begin(uri: string): Watched {
    const begun = Promise.resolve();
    const watched: Watched = { listeners: new Set(), asked: new Map(), begun, hasBegun: false };
    this.#watched.set(uri, watched);
    watched.begun = this.#askAny(uri, watched);
    return watched;
  }

  /** One subscribed process is enough. */
  async #askAny(uri: string, watched: Watched): Promise<void> {
    await this.#leaving.get(uri);
    if (this.#links.length === 0) await this.#options.wake();
    const asked = this.#links.map((link) => this.#ask(link, uri, watched));
    if (asked.length === 0) throw gone(this.#options.name);
    await Promise.any(asked).catch(({ errors }: AggregateError) => {
      throw errors[0];
    });
    watched.hasBegun = true;
  }

  get #links(): Link[] {
    return [...this.#open.keys()].filter(({ session }) => session.state === 'open');
  }

  #ask(link: Link, uri: string, watched: Watched): Promise<Unwatch> {
    const known = watched.asked.get(link);
    if (known !== undefined) return known;
    const { name } = this.#options;
    const asked = tells(this.#open.get(link)) ? link.watch(uri) : Promise.reject(doesNotTell(name, uri));
    watched.asked.set(link, asked);
    asked.catch(() => watched.asked.delete(link));
    return asked;
  }

  #opened(link: Link, opened: Opened): void {
    this.#open.set(link, opened);
    for (const [uri, watched] of this.#watched) {
      this.#ask(link, uri, watched).then(
        () => watched.hasBegun && tell(watched, { uri }),
        (error: MCPError) => this.#options.note(`its subscribers get no changes of ${uri}: ${error.message}`),
      );
    }
  }

  #ended(link: Link): void {
    this.#open.delete(link);
    for (const { asked } of this.#watched.values()) asked.delete(link);
  }

  /** It may be about a part of what is watched. */
  #updated(params: JsonObject): void {
    const { uri } = params;
    if (typeof uri !== 'string') return;
    const said = withoutId(params);
    for (const [watchedUri, watched] of this.#watched) {
      const folder = watchedUri.endsWith('/') ? watchedUri : `${watchedUri}/`;
      if (uri === watchedUri || uri.startsWith(folder)) tell(watched, said);
    }
  }

  #leave(uri: string, watched: Watched, listener: OnUpdate): void {
    if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return;
    if (this.#watched.get(uri) === watched) this.#watched.delete(uri);
    const asked = [...watched.asked.values()];
    const left = Promise.allSettled(asked.map(async (unwatch) => (await unwatch)())).then(() => {
      if (this.#leaving.get(uri) === left) this.#leaving.delete(uri);
    });
    this.#leaving.set(uri, left);
  }
}

function tell({ listeners }: Watched, params: JsonObject): void {
  for (const listen of [...listeners]) listen(params);
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
