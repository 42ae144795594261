import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { loadEntry } from '../config/load.js';
import { parseJson } from '../config/parse/parse-json.js';
import { ConfigError } from '../config/parse/problem.js';
import type { ServerSpec, Settings } from '../config/schema/spec.js';
import type { Redactor } from '../config/variables/redactor.js';
import type { ServerStatus } from '../fleet/fleet.js';
import { serialize } from '../shared/async.js';
import { OverloadedError } from '../shared/call-errors.js';
import type { Herd } from '../supervisor/herd/herd.js';
import type { ConfigSource } from './config-source.js';

export interface RuntimeServersOptions {
  herd: Herd;
  place: ConfigSource;
  settings(): Settings;
  /** Somebody came, and has a place behind all others. */
  came(spec: ServerSpec): void;
  went(): void;
  /** Hears what must not be shown. */
  learn(secrets: Redactor): void;
  /** How many may wait for their turn, and how much. */
  most?: { count: number; characters: number };
}

/** As of calls that wait. */
const MOST = { count: 10_000, characters: 64 * 2 ** 20 };

/** What problems of a document are said to be in: it came over the socket, and is no file. */
const SOURCE = 'fleet/register';

/**
 * Servers that were handed over by a user and stand in no file: they live until unregistered or the herd ends. They come
 * and go one by one, and between two of them everybody else is served: a thousand may be handed over at once.
 */
export class RuntimeServers {
  readonly #options: RuntimeServersOptions;
  readonly #servers = new Map<string, ServerSpec>();
  readonly #inTurn = serialize();
  readonly #waiting = { count: 0, characters: 0 };

  constructor(options: RuntimeServersOptions) {
    this.#options = options;
  }

  async add(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]> {
    const text = JSON.stringify(document, null, 2);
    return this.#whenItsTurn(text.length, () => this.#add(text, folder));
  }

  async remove(name: string): Promise<ServerStatus[]> {
    return this.#whenItsTurn(name.length, async () => this.#remove(name));
  }

  async #whenItsTurn<T>(characters: number, run: () => Promise<T>): Promise<T> {
    const { most = MOST, herd } = this.#options;
    const waiting = this.#waiting;
    if (waiting.count >= most.count || waiting.characters >= most.characters) throw tooMany(waiting.count);
    waiting.count += 1;
    waiting.characters += characters;
    return this.#inTurn(async () => {
      await setImmediate();
      waiting.count -= 1;
      waiting.characters -= characters;
      try {
        return await run();
      } finally {
        // it looks at all of them: once, when the last one is there
        if (waiting.count === 0) herd.seen();
      }
    });
  }

  async #add(text: string, folder?: string): Promise<ServerStatus[]> {
    const { herd, place, settings, learn } = this.#options;
    const source = parseJson(SOURCE, text);
    const { servers, redactor } = await loadEntry(source, folder ?? dirname(place.file), settings(), place);
    const [spec] = servers;
    if (spec === undefined) return [];
    if (herd.view.knows(spec.name))
      throw inTheWay(herd.view.specOf(spec.name), `'${spec.name}' is there already`);
    // before it starts: it may say its secrets at once
    learn(redactor);
    this.#servers.set(spec.name, spec);
    try {
      herd.view.add(spec);
    } catch (error) {
      this.#servers.delete(spec.name);
      throw error;
    }
    this.#options.came(spec);
    return herd.view.status([spec.name]);
  }

  #remove(name: string): ServerStatus[] {
    const { herd } = this.#options;
    const spec = herd.view.specOf(name);
    if (!this.#servers.has(name)) throw inTheWay(spec, `'${name}' was not registered: it is in the config`);
    const last = herd.view.status([name]);
    herd.apply(herd.view.specs.filter((other) => other.name !== name));
    this.#servers.delete(name);
    this.#options.went();
    return last;
  }

  /** What the config says, and the registered ones after it. A name that the config has is the config's. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    const names = new Set(specs.map(({ name }) => name));
    return [...specs, ...[...this.#servers.values()].filter(({ name }) => !names.has(name))];
  }

  /** From now on these are in the config. */
  yieldTo(specs: readonly ServerSpec[]): void {
    for (const { name } of specs) this.#servers.delete(name);
  }
}

function tooMany(count: number): OverloadedError {
  return new OverloadedError(`${count} servers wait already to be registered or unregistered`, {
    retryable: true,
    why: 'they are taken one by one, so that others are served as well',
    fix: 'wait for answers before sending more',
  });
}

function inTheWay({ name, origin: { scope, file, line, column } }: ServerSpec, message: string): ConfigError {
  const fix =
    scope === 'registered' ? `choose another name, or first: toolherd unregister ${name}` : `edit ${file}`;
  return new ConfigError([{ type: 'ConfigError', message, fix, file, line, column, path: '' }]);
}
