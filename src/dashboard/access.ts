import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, isoDateOf } from '../shared/clock.js';

const KEY_BYTES = 32;
const ID_BYTES = 16;
/** How long a link can be opened. */
export const LINK_MS = 60_000;
/** Of links that wait, and of pages: the oldest one ends. */
const MOST = 64;

export interface IssuedLink {
  key: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** What a browser gets for a link: a path that only it knows, and the secret of its cookie. */
export interface OpenedPage {
  id: string;
  secret: string;
}

/** Links that can be opened once, and the pages that came of them. Of keys and secrets it keeps only digests. */
export class Access {
  readonly #clock: Clock;
  /** When each link expires, by the digest of its key. */
  readonly #links = new Map<string, number>();
  /** The digest of the secret of each page. */
  readonly #pages = new Map<string, Buffer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(): IssuedLink {
    const key = randomText(KEY_BYTES);
    const expiresAt = this.#clock.now() + LINK_MS;
    dropOldest(this.#links);
    this.#links.set(digestOf(key).toString('hex'), expiresAt);
    return { key, expiresAt: isoDateOf(this.#clock, expiresAt) };
  }

  /** Undefined where the key is unknown, was used, or has expired. */
  open(key: string): OpenedPage | undefined {
    const digest = digestOf(key).toString('hex');
    const expiresAt = this.#links.get(digest);
    this.#links.delete(digest);
    if (expiresAt === undefined || expiresAt <= this.#clock.now()) return undefined;
    const page = { id: randomText(ID_BYTES), secret: randomText(KEY_BYTES) };
    dropOldest(this.#pages);
    this.#pages.set(page.id, digestOf(page.secret));
    return page;
  }

  isAllowed(id: string, secret: string): boolean {
    const digest = this.#pages.get(id);
    return digest !== undefined && timingSafeEqual(digest, digestOf(secret));
  }
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** Digests have one length, so a comparison takes the same time for every secret. */
function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size >= MOST && oldest !== undefined) map.delete(oldest);
}
