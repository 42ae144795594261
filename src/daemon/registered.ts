import { dirname } from 'node:path';
import { loadEntry } from '../config/load.js';
import { parseJson } from '../config/parse-json.js';
import { ConfigError } from '../config/problem.js';
import type { Redactor } from '../config/redactor.js';
import type { ServerSpec, Settings } from '../config/spec.js';
import type { ServerStatus } from '../ipc/fleet.js';
import type { Herd } from '../supervisor/herd.js';
import type { ConfigPlace } from './config-source.js';

export interface RegisteredOptions {
  herd: Herd;
  place: ConfigPlace;
  settings(): Settings;
  /** Somebody came or went. */
  changed(): void;
  /** Hears what must not be shown. */
  learn(secrets: Redactor): void;
}

/** What problems of a document are said to be in: it came over the socket, and is no file. */
const SOURCE = 'fleet/register';

/** Servers that were handed over by a user and stand in no file: they live until unregistered or the herd ends. */
export class Registered {
  readonly #options: RegisteredOptions;
  readonly #guests = new Map<string, ServerSpec>();

  constructor(options: RegisteredOptions) {
    this.#options = options;
  }

  async add(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]> {
    const { herd, place, settings, learn } = this.#options;
    const source = parseJson(SOURCE, JSON.stringify(document, null, 2));
    const { servers, redactor } = await loadEntry(source, folder ?? dirname(place.file), settings(), place);
    const [spec] = servers;
    if (spec === undefined) return [];
    const taken = herd.specs.find(({ name }) => name === spec.name);
    if (taken !== undefined) throw inTheWay(taken, `'${spec.name}' is there already`);
    // before it starts: it may say its secrets at once
    learn(redactor);
    this.#guests.set(spec.name, spec);
    try {
      herd.apply([...herd.specs, spec]);
    } catch (error) {
      this.#guests.delete(spec.name);
      throw error;
    }
    this.#options.changed();
    return herd.status([spec.name]);
  }

  remove(name: string): ServerStatus[] {
    const { herd } = this.#options;
    const spec = herd.specOf(name);
    if (!this.#guests.has(name)) throw inTheWay(spec, `'${name}' was not registered: it is in the config`);
    const last = herd.status([name]);
    herd.apply(herd.specs.filter((other) => other.name !== name));
    this.#guests.delete(name);
    this.#options.changed();
    return last;
  }

  /** What the config says, and the registered ones after it. A name that the config has is the config's. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    const names = new Set(specs.map(({ name }) => name));
    return [...specs, ...[...this.#guests.values()].filter(({ name }) => !names.has(name))];
  }

  /** From now on these are in the config. */
  yieldTo(specs: readonly ServerSpec[]): void {
    for (const { name } of specs) this.#guests.delete(name);
  }
}

function inTheWay({ name, origin: { scope, file, line, column } }: ServerSpec, message: string): ConfigError {
  const fix =
    scope === 'registered' ? `choose another name, or first: toolherd unregister ${name}` : `edit ${file}`;
  return new ConfigError([{ type: 'ConfigError', message, fix, file, line, column, path: '' }]);
}
