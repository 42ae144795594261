import { AuthRequiredError, MCPConnectionError } from '../../shared/call-errors.js';
import { ScopeRequiredError } from '../auth/errors.js';
import type { RefusalHeaders } from './refusal-headers.js';

/**
 * What can go wrong between us and a remote server, as a fact; `endings.ts` has the words.
 *
 * | kind | what happened | did the request get there? |
 * |---|---|---|
 * | `unreachable` | no connection came about | no |
 * | `refused` | an HTTP status that is no success | below 500: no, the server says so itself |
 * | `unauthorised` | an authorisation is missing that only a person can give | no |
 * | `forgotten` | the server knows our session no more | no, the server says so itself |
 * | `cut` | the connection broke in the middle | perhaps |
 * | `no-reply` | the answer ended properly, without a reply in it | perhaps |
 * | `silent` | nothing was heard for `sse_read_timeout` | perhaps |
 * | `no-pong` | a WebSocket did not answer a ping frame | perhaps |
 * | `closed` | the server closed the WebSocket, with a code | perhaps |
 * | `too-large` | a message over `max_message_bytes` | yes |
 * | `nonsense` | an answer that is not what the transport prescribes | perhaps |
 */
export type Trouble =
  | { kind: 'unreachable'; code: string | undefined; message: string }
  | ({ kind: 'refused'; status: number; text: string } & RefusalHeaders)
  | { kind: 'unauthorised'; error: AuthRequiredError }
  | { kind: 'forgotten'; status: number }
  | { kind: 'cut'; code: string | undefined }
  | { kind: 'no-reply' }
  | { kind: 'silent'; ms: number }
  | { kind: 'no-pong'; ms: number }
  | { kind: 'closed'; code: number; reason: string }
  | { kind: 'too-large'; bytes: number }
  | { kind: 'nonsense'; why: string };

/** Carries a trouble through the SDK's transports, which pass on whatever their fetch rejects with. */
export class TroubleError extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble.kind);
    this.trouble = trouble;
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The trouble that an error stands for, where it stands for one. */
export function troubleIn(error: unknown): Trouble | undefined {
  if (error instanceof TroubleError) return error.trouble;
  if (error instanceof AuthRequiredError) return { kind: 'unauthorised', error };
  // its token could not be renewed: the way to the server leads over another that is not there
  if (error instanceof MCPConnectionError)
    return { kind: 'unreachable', code: undefined, message: error.message };
  return undefined;
}

/** The request never arrived, or the server itself says that it did nothing. */
export function wasRefused(trouble: Trouble): boolean {
  if (trouble.kind === 'refused') return trouble.status < 500;
  return REFUSALS.has(trouble.kind);
}

/** No other request can fare better: the whole link is at its end. */
export function endsLink(trouble: Trouble): boolean {
  if (trouble.kind === 'refused') return trouble.status === 401;
  if (trouble.kind === 'unauthorised') return !(trouble.error instanceof ScopeRequiredError);
  return REFUSALS.has(trouble.kind);
}

const REFUSALS: ReadonlySet<Trouble['kind']> = new Set(['unreachable', 'unauthorised', 'forgotten']);

/** The same without what nobody should read: servers repeat in their answers what they were sent. */
export function cleaned(trouble: Trouble, redact: (text: string) => string): Trouble {
  if (trouble.kind === 'unreachable') return { ...trouble, message: redact(trouble.message) };
  if (trouble.kind === 'refused') return { ...trouble, text: redact(trouble.text) };
  if (trouble.kind === 'closed') return { ...trouble, reason: redact(trouble.reason) };
  if (trouble.kind === 'nonsense') return { ...trouble, why: redact(trouble.why) };
  return trouble;
}
