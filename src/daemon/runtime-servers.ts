import { dirname } from 'node:path';
import type { ServerSpec, Settings } from '../config/fields/spec.js';
import { loadEntry } from '../config/load.js';
import { parseJson } from '../config/parse/parse-json.js';
import { ConfigError } from '../config/parse/problem.js';
import type { ServerStatus } from '../fleet/fleet.js';
import { nextTurn, serialize } from '../shared/async.js';
import { OverloadedError } from '../shared/call-errors.js';
import type { Redactor } from '../shared/secrets/redactor.js';
import { shellWord } from '../shared/text/shell-word.js';
import type { Herd } from '../supervisor/herd/herd.js';
import type { ConfigSource } from './config-source.js';

export interface RuntimeServersOptions {
  herd: Herd;
  source: ConfigSource;
  settings(): Settings;
  /** A server was added, behind all others. */
  onAdded(spec: ServerSpec): void;
  onRemoved(): void;
  /** Called with the secrets of a server before it starts. */
  learn(secrets: Redactor): void;
  /** How many requests may wait, and how long they may be together. */
  most?: { count: number; characters: number };
}

/** The limits of waiting calls. */
const MOST = { count: 10_000, characters: 64 * 2 ** 20 };

/** Stands for the file name in problems of a document, which came over the socket. */
const DOCUMENT_NAME = 'fleet/register';

/**
 * Servers that a client registered over the socket and that are in no file. They live until they are unregistered or the
 * herd ends. A client may register a thousand at once, so they are added and removed one by one, and the event loop
 * serves other clients in between.
 */
export class RuntimeServers {
  readonly #options: RuntimeServersOptions;
  readonly #servers = new Map<string, ServerSpec>();
  readonly #serialized = serialize();
  readonly #waiting = { count: 0, characters: 0 };

  constructor(options: RuntimeServersOptions) {
    this.#options = options;
  }

  async add(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]> {
    const text = JSON.stringify(document, null, 2);
    return this.#enqueue(text.length, () => this.#add(text, folder));
  }

  async remove(name: string): Promise<ServerStatus[]> {
    return this.#enqueue(name.length, async () => this.#remove(name));
  }

  async #enqueue<T>(characters: number, run: () => Promise<T>): Promise<T> {
    const { most = MOST, herd } = this.#options;
    const waiting = this.#waiting;
    if (waiting.count >= most.count || waiting.characters >= most.characters) throw tooMany(waiting.count);
    waiting.count += 1;
    waiting.characters += characters;
    return this.#serialized(async () => {
      await nextTurn();
      waiting.count -= 1;
      waiting.characters -= characters;
      try {
        return await run();
      } finally {
        // it looks at all servers, so it runs once, after the last request
        if (waiting.count === 0) herd.pruneFiles();
      }
    });
  }

  async #add(text: string, folder?: string): Promise<ServerStatus[]> {
    const { herd, source, settings, learn } = this.#options;
    const document = parseJson(DOCUMENT_NAME, text);
    const base = folder ?? dirname(source.file);
    const { servers, redactor } = await loadEntry(document, base, settings(), source);
    const [spec] = servers;
    if (spec === undefined) return [];
    if (herd.view.knows(spec.name))
      throw nameTaken(herd.view.specOf(spec.name), `'${spec.name}' is there already`);
    // before it starts: its first message may contain a secret
    learn(redactor);
    this.#servers.set(spec.name, spec);
    try {
      herd.view.add(spec);
    } catch (error) {
      this.#servers.delete(spec.name);
      throw error;
    }
    this.#options.onAdded(spec);
    return herd.view.status([spec.name]);
  }

  #remove(name: string): ServerStatus[] {
    const { herd } = this.#options;
    const spec = herd.view.specOf(name);
    if (!this.#servers.has(name)) throw nameTaken(spec, `'${name}' was not registered: it is in the config`);
    const last = herd.view.status([name]);
    herd.apply(herd.view.specs.filter((other) => other.name !== name));
    this.#servers.delete(name);
    this.#options.onRemoved();
    return last;
  }

  /** The servers of the config, then the registered ones. Where both have a name, the config wins. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    const names = new Set(specs.map(({ name }) => name));
    return [...specs, ...[...this.#servers.values()].filter(({ name }) => !names.has(name))];
  }

  /** The config has these servers now: registered ones of the same name are dropped. */
  yieldTo(specs: readonly ServerSpec[]): void {
    for (const { name } of specs) this.#servers.delete(name);
  }
}

function tooMany(count: number): OverloadedError {
  return new OverloadedError(`${count} servers wait already to be registered or unregistered`, {
    retryable: true,
    why: 'the daemon handles them one by one, so that it can serve other requests in between',
    fix: 'wait for answers before sending more',
  });
}

function nameTaken(
  { name, origin: { scope, file, line, column } }: ServerSpec,
  message: string,
): ConfigError {
  const fix =
    scope === 'registered'
      ? `choose another name, or first: toolherd unregister ${shellWord(name)}`
      : `edit ${file}`;
  return new ConfigError([{ type: 'ConfigError', message, fix, file, line, column, path: '' }]);
}
