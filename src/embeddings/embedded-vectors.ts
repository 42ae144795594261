import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { EmbeddingsStatus } from '../fleet/fleet.js';
import type { ToolVectors, Vector } from '../search/meaning.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { pruneFiles } from '../shared/files/prune-files.js';
import { askVectors, EmbeddingError, type EmbeddingService, endpointOf, OTHER_LENGTH } from './ask.js';
import { VectorFile, type VectorKey } from './vector-file.js';

export interface EmbeddedVectorsOptions {
  service: EmbeddingService;
  /** Of the files with vectors. */
  folder: string;
  clock: Clock;
  /** Reports a problem, each kind once. */
  warn(text: string): void;
  /** For how long a search waits for the vector of its query. */
  queryMs?: number;
  /** For how long requests rest after a failure; each failure more doubles it, up to five minutes. */
  restMs?: number;
  /** Of all vectors in memory. The file is hardly larger. */
  mostBytes?: number;
}

const QUERY_MS = 300;
const LONGEST_QUERY = 1000;
const MOST_QUERIES = 8;
const BATCH = 32;
const BATCH_MS = 30_000;
const REST_MS = 10_000;
const LONGEST_REST_MS = 300_000;
const MOST_BYTES = 64 * 2 ** 20;
const MOST_WAITING = 20_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Files of services that the config does not name any more. */
const FORGOTTEN_AFTER_MS = 30 * DAY_MS;
/** Vectors of texts that no search has asked for in this time make room for others. */
const UNUSED_AFTER_MS = 60 * 60 * 1000;

interface Known {
  vector: Vector;
  /** When a search last asked for it. */
  usedAt: number;
}

/**
 * Vectors of one service. Tools get theirs in the background, in batches, and a file keeps them; a query waits for its own
 * for a short time. After a failure the service is left alone for a while: searches then rank by words, without delay.
 */
export class EmbeddedVectors implements ToolVectors {
  readonly #options: EmbeddedVectorsOptions;
  readonly #file: VectorFile;
  readonly #known = new Map<string, Known>();
  /** From the file, of texts that no search has asked for yet. */
  #stored = new Map<VectorKey, Vector>();
  readonly #waiting = new Set<string>();
  readonly #tools: Requests;
  readonly #queries: Requests;
  readonly #ended = new AbortController();
  readonly #said = new Set<string>();
  /** The length of all vectors. */
  #dimensions: number | undefined;
  #state: 'reading' | 'resting' | 'asking' = 'reading';
  #runningQueries = 0;
  #roomMadeAt = Number.NEGATIVE_INFINITY;
  /** Reads the file. */
  readonly #opening: Promise<void>;
  #asking: Promise<void> = Promise.resolve();

  constructor(options: EmbeddedVectorsOptions) {
    this.#options = options;
    const { folder, clock, mostBytes = MOST_BYTES, restMs = REST_MS } = options;
    this.#tools = new Requests(clock, restMs);
    this.#queries = new Requests(clock, restMs);
    const path = join(folder, `${this.#hash('file')}.vectors`);
    this.#file = new VectorFile(path, 2 * mostBytes);
    this.#opening = this.#open(path);
  }

  of(text: string): Vector | undefined {
    const known = this.#known.get(text);
    const now = this.#options.clock.now();
    if (known !== undefined) {
      known.usedAt = now;
      return known.vector;
    }
    if (this.#state === 'reading' || this.#waiting.has(text)) return undefined;
    const key = this.#hash(text);
    const stored = this.#stored.get(key);
    if (stored !== undefined) {
      this.#stored.delete(key);
      this.#known.set(text, { vector: stored, usedAt: now });
      return stored;
    }
    if (!this.#hasRoom()) return undefined;
    this.#waiting.add(text);
    this.#work();
    return undefined;
  }

  async ofQuery(query: string): Promise<Vector | undefined> {
    const { queryMs = QUERY_MS } = this.#options;
    const isUseful = this.#size > 0 && !this.#queries.areResting;
    if (!isUseful || this.#runningQueries >= MOST_QUERIES) return undefined;
    this.#runningQueries += 1;
    try {
      const [vector] = await this.#ask([query.slice(0, LONGEST_QUERY)], queryMs);
      this.#queries.worked();
      return vector;
    } catch (error) {
      this.#failed(this.#queries, error, 'searches rank by words alone');
      return undefined;
    } finally {
      this.#runningQueries -= 1;
    }
  }

  /** For `status`. The url has no parameters, which may hold secrets. */
  report(): EmbeddingsStatus {
    const { url, model = null } = this.#options.service;
    const { origin, pathname } = endpointOf(url);
    return {
      url: origin + pathname,
      model,
      vectors: this.#size,
      waiting: this.#waiting.size,
      problem: this.#tools.problem ?? this.#queries.problem,
    };
  }

  /** Resolves when nothing is asked or written any more. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#tools.close();
    await Promise.all([this.#opening, this.#asking]);
    await this.#file.written();
  }

  async #open(path: string): Promise<void> {
    const { folder, clock } = this.#options;
    this.#stored = await this.#file.read();
    const [first] = this.#stored.values();
    this.#dimensions = first?.length;
    this.#state = 'resting';
    await pruneFiles(folder, new Set([path]), dateOf(clock), FORGOTTEN_AFTER_MS);
  }

  /** Asks for the vectors of waiting texts, one batch after the other. */
  #work(): void {
    if (this.#state !== 'resting' || this.#tools.areResting || this.#ended.signal.aborted) return;
    this.#state = 'asking';
    this.#asking = this.#askForWaiting().finally(() => {
      this.#state = 'resting';
    });
  }

  async #askForWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#ended.signal.aborted) {
      if (this.#size >= this.#most) {
        this.#waiting.clear();
        return;
      }
      const texts = [...this.#waiting].slice(0, BATCH);
      try {
        const vectors = await this.#ask(texts, BATCH_MS);
        this.#tools.worked();
        await this.#keep(texts, vectors);
      } catch (error) {
        // a text that the service cannot take must not stand before the others for ever
        for (const text of texts) {
          this.#waiting.delete(text);
          this.#waiting.add(text);
        }
        if (this.#ended.signal.aborted) return;
        this.#failed(this.#tools, error, 'tools without a vector are ranked by words alone');
        this.#tools.afterRest(() => this.#work());
        return;
      }
    }
  }

  async #keep(texts: readonly string[], vectors: readonly Vector[]): Promise<void> {
    const usedAt = this.#options.clock.now();
    const added = new Map<VectorKey, Vector>();
    for (const [at, text] of texts.entries()) {
      const vector = vectors[at]!;
      this.#known.set(text, { vector, usedAt });
      added.set(this.#hash(text), vector);
    }
    await this.#file.append(added);
    for (const text of texts) this.#waiting.delete(text);
  }

  async #ask(texts: readonly string[], ms: number): Promise<Vector[]> {
    const { service, clock } = this.#options;
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), ms);
    const end = () => late.abort();
    this.#ended.signal.addEventListener('abort', end);
    try {
      const vectors = await askVectors(service, texts, late.signal);
      const dimensions = vectors[0]!.length;
      if (dimensions !== (this.#dimensions ?? dimensions)) throw new EmbeddingError(OTHER_LENGTH);
      this.#dimensions = dimensions;
      return vectors;
    } finally {
      clock.clearTimeout(timer);
      this.#ended.signal.removeEventListener('abort', end);
    }
  }

  #failed(requests: Requests, error: unknown, effect: string): void {
    const why = error instanceof EmbeddingError ? error.message : 'an internal error';
    const fix =
      why === OTHER_LENGTH
        ? `; if the model has changed, remove ${this.#options.folder} and restart the daemon`
        : '';
    requests.failed(why + fix);
    if (this.#said.has(why) || this.#ended.signal.aborted) return;
    this.#said.add(why);
    this.#options.warn(`search.embeddings does not work: ${why}${fix}. Until it does, ${effect}`);
  }

  get #size(): number {
    return this.#known.size + this.#stored.size;
  }

  #hasRoom(): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false;
    if (this.#size + this.#waiting.size < this.#most) return true;
    this.#makeRoom();
    return this.#size + this.#waiting.size < this.#most;
  }

  /** How many vectors there is room for. */
  get #most(): number {
    const { mostBytes = MOST_BYTES } = this.#options;
    return mostBytes / (4 * (this.#dimensions ?? 1));
  }

  /** Forgets vectors that no search has asked for. */
  #makeRoom(): void {
    const now = this.#options.clock.now();
    if (now - this.#roomMadeAt < UNUSED_AFTER_MS) return;
    this.#roomMadeAt = now;
    this.#stored.clear();
    for (const [text, { usedAt }] of this.#known)
      if (now - usedAt >= UNUSED_AFTER_MS) this.#known.delete(text);
    const kept = [...this.#known].map(([text, { vector }]): [VectorKey, Vector] => [
      this.#hash(text),
      vector,
    ]);
    void this.#file.replace(new Map(kept));
  }

  #hash(text: string): VectorKey {
    const { url, model = '' } = this.#options.service;
    return createHash('sha256')
      .update(JSON.stringify([url, model, text]))
      .digest('hex');
  }
}

/** Requests of one kind: whether they fail, and until when they rest. */
class Requests {
  readonly #clock: Clock;
  readonly #shortestMs: number;
  #restMs = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #timer: unknown;
  problem: string | null = null;

  constructor(clock: Clock, shortestMs: number) {
    this.#clock = clock;
    this.#shortestMs = shortestMs;
  }

  get areResting(): boolean {
    return this.#clock.now() < this.#restsUntil;
  }

  worked(): void {
    this.problem = null;
    this.#restMs = 0;
  }

  failed(problem: string): void {
    this.problem = problem;
    this.#restMs = Math.min(Math.max(2 * this.#restMs, this.#shortestMs), LONGEST_REST_MS);
    this.#restsUntil = this.#clock.now() + this.#restMs;
  }

  afterRest(work: () => void): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      // a timer may fire a little early
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      work();
    }, this.#restMs);
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
  }
}
