import { codeOf } from '../shared/errors.js';
import { parseRetryAfter } from '../shared/retry-after.js';
import { seconds } from '../shared/text/seconds.js';
import { RegistryTimeoutError, type RegistryUnreachableError, unusableRegistry } from './errors.js';

/** What a request needs from outside; a test passes its own. */
export interface HttpOptions {
  fetch: typeof fetch;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** From 0 to 1. */
  random(): number;
  /** How long one try may take. */
  tryMs: number;
  /** Aborts requests and pauses. */
  signal?: AbortSignal | undefined;
}

export type Answer = { kind: 'found'; body: string } | { kind: 'not-found' };

/** Why a try failed, and whether to try again. */
interface Failure {
  why: string;
  retry: boolean;
  /** The registry's Retry-After. */
  waitMs?: number | undefined;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Tries until there is an answer, with growing pauses. Throws a RegistryUnreachableError. */
export async function getWithRetries(url: URL, tries: number, http: HttpOptions): Promise<Answer> {
  for (let count = 1; ; count++) {
    const outcome = await tryOnce(url, http);
    if ('kind' in outcome) return outcome;
    if (http.signal?.aborted) throw timedOut(url);
    const pauseMs = outcome.waitMs ?? FIRST_PAUSE_MS * 2 ** (count - 1) * (0.8 + 0.4 * http.random());
    if (!outcome.retry || count >= tries || pauseMs > MAX_PAUSE_MS) {
      throw unreachable(url, outcome.why, count);
    }
    await http.sleep(pauseMs, http.signal).catch(() => {
      throw timedOut(url);
    });
  }
}

async function tryOnce(url: URL, { fetch, tryMs, signal }: HttpOptions): Promise<Answer | Failure> {
  const late = AbortSignal.timeout(tryMs);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'toolherd' },
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
    if (response.status === 404) return { kind: 'not-found' };
    if (!response.ok) return failureOf(response);
    const body = await readBody(response);
    if (body === undefined) return { why: 'its answer is too large', retry: false };
    return isJson(body) ? { kind: 'found', body } : { why: 'its answer is not JSON', retry: false };
  } catch (error) {
    if (late.aborted) return { why: `it did not answer within ${seconds(tryMs)}`, retry: true };
    return { why: reasonOf(error), retry: true };
  }
}

function failureOf({ status, headers }: Response): Failure {
  const why = `it answered with status ${status}`;
  if (status !== 429 && status < 500) return { why, retry: false };
  const waitMs = parseRetryAfter(headers.get('retry-after'), Date.now());
  const isLong = waitMs !== undefined && waitMs > MAX_PAUSE_MS;
  return {
    why: isLong ? `${why} and wants to be asked again in ${Math.ceil(waitMs / 1000)} s` : why,
    retry: true,
    waitMs,
  };
}

async function readBody({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** fetch's message only says that it failed; the reason is in `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' ? (codeOf(cause) ?? cause.name) : cause.message;
}

function unreachable(url: URL, why: string, tries: number): RegistryUnreachableError {
  const times = tries === 1 ? '' : ` (asked ${tries} times)`;
  return unusableRegistry(url, `${why}${times}`);
}

function timedOut({ origin }: URL): RegistryTimeoutError {
  return new RegistryTimeoutError(`the registry at ${origin} did not answer in time`, {
    why: 'the time given by --timeout passed',
    fix: 'use a longer --timeout',
  });
}
