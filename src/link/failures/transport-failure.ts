import { AuthRequiredError, MCPConnectionError, type MCPError } from '../../shared/call-errors.js';
import { ScopeRequiredError } from '../auth/errors.js';
import type { RefusalHeaders } from '../remote/refusal-headers.js';

/**
 * What can go wrong between toolherd and a remote server, as data; `endings.ts` has the sentences.
 *
 * | kind | what happened | did the request get there? |
 * |---|---|---|
 * | `unreachable` | no connection could be established | no |
 * | `refused` | an HTTP status that is no success | below 500: no, the server says so itself |
 * | `unauthorised` | an authorisation is missing, which only a person can give | no |
 * | `forgotten` | the server has dropped our session | no, the server says so itself |
 * | `cut` | the connection broke in the middle | perhaps |
 * | `no-reply` | the answer ended properly, without a reply in it | perhaps |
 * | `silent` | no byte came for `sse_read_timeout` | perhaps |
 * | `no-pong` | a WebSocket did not answer a ping frame | perhaps |
 * | `closed` | the server closed the WebSocket, with a code | perhaps |
 * | `too-large` | a message over `max_message_bytes` | yes |
 * | `nonsense` | an answer that is not what the transport prescribes | perhaps |
 * | `told` | the daemon of the server's herd answered with an error of toolherd | as that daemon says |
 * | `herd` | the connection of the server's herd is away | perhaps |
 * | `node` | the server's node of the cluster is away | perhaps |
 */
export type TransportFailure =
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
  | { kind: 'nonsense'; why: string }
  | { kind: 'herd'; herd: string; why: string }
  | { kind: 'node'; node: string; why: string }
  | { kind: 'told'; error: MCPError };

/** Carries a failure through the SDK's transports, which pass on the rejections of their fetch. */
export class TransportError extends Error {
  readonly failure: TransportFailure;

  constructor(failure: TransportFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** The failure that an error stands for, where it is one of ours. */
export function failureIn(error: unknown): TransportFailure | undefined {
  if (error instanceof TransportError) return error.failure;
  if (error instanceof AuthRequiredError) return { kind: 'unauthorised', error };
  // the token could not be renewed, because the authorization server is unreachable
  if (error instanceof MCPConnectionError)
    return { kind: 'unreachable', code: undefined, message: error.message };
  return undefined;
}

/** The request never arrived, or the server itself says that it did nothing. */
export function wasRefused(failure: TransportFailure): boolean {
  if (failure.kind === 'refused') return failure.status < 500;
  return REFUSALS.has(failure.kind);
}

/** No other request can get through: the whole link ends. */
export function endsLink(failure: TransportFailure): boolean {
  if (failure.kind === 'refused') return failure.status === 401;
  if (failure.kind === 'unauthorised') return !(failure.error instanceof ScopeRequiredError);
  return REFUSALS.has(failure.kind);
}

const REFUSALS: ReadonlySet<TransportFailure['kind']> = new Set(['unreachable', 'unauthorised', 'forgotten']);

/** The failure without secrets: servers repeat in their answers what they were sent. */
export function cleaned(failure: TransportFailure, redact: (text: string) => string): TransportFailure {
  if (failure.kind === 'unreachable') return { ...failure, message: redact(failure.message) };
  if (failure.kind === 'refused') return { ...failure, text: redact(failure.text) };
  if (failure.kind === 'closed') return { ...failure, reason: redact(failure.reason) };
  if ('why' in failure) return { ...failure, why: redact(failure.why) };
  return failure;
}
