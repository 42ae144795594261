import type { Ending, Failed } from '../../machines/restart/ending.js';
import {
  AuthRequiredError,
  MCPConnectionError,
  type MCPError,
  MCPProtocolError,
  MCPTimeoutError,
  ResultTooLargeError,
} from '../../shared/call-errors.js';
import { seconds } from '../../shared/text/seconds.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { authEnding } from '../auth/errors.js';
import { endingError } from './ending-error.js';
import { type TransportFailure, wasRefused } from './transport-failure.js';

/** Error codes of a failed TLS connection. */
const TLS_FAULT =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|ERR_SSL|EPROTO)/;
/** Answers of an address without an MCP server of this transport. */
const NO_SERVER_HERE = new Set([400, 404, 405, 406, 410, 415, 426, 501]);
const WORDS_LENGTH = 120;
/** Where the first words are searched: a body has any size, and may be nothing but brackets. */
const BODY_LENGTH = 4096;
/** All but those that bring their own sentence. */
type Described = Exclude<TransportFailure, { kind: 'unauthorised' | 'told' }>;

const MAY_HAVE_RUN = 'the call was with the server and may have run';

/** The server that the sentences are about. */
export interface RemoteServer {
  name: string;
  /** Without secrets, as it may be shown. */
  url: string;
}

/** The url as it may be shown, without userinfo and query, which may hold tokens. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** The ending of a link. `opened`: the handshake was done before. */
export function failureOf(server: RemoteServer, failure: TransportFailure, opened: boolean): Failed {
  if (failure.kind === 'unauthorised') return authEnding(failure.error);
  if (failure.kind === 'told') return { kind: 'error', cause: 'lost', message: failure.error.message };
  const message = `${server.name}: ${sentence(server, failure)}${opened || failure.kind === 'herd' || failure.kind === 'node' ? '' : ', before it had answered initialize'}`;
  const failed = { kind: 'error', message, fix: fixOf(server, failure) } as const;
  const looksMisconfigured = couldBeWrongEntry(failure);
  if (isAuth(failure)) return { ...failed, cause: 'auth', looksMisconfigured };
  if (failure.kind === 'refused') {
    const { retryAfterMs } = failure;
    const pause = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { ...failed, cause: 'protocol', looksMisconfigured, ...pause };
  }
  if (failure.kind === 'nonsense' || failure.kind === 'too-large') {
    return { ...failed, cause: 'protocol', looksMisconfigured };
  }
  if (failure.kind === 'no-pong' || failure.kind === 'silent') return { ...failed, cause: 'hung' };
  return { ...failed, cause: 'lost', looksMisconfigured };
}

/** The error of a call whose request or reply got lost, whether or not the link lives on. */
export function callErrorOf(server: RemoteServer, method: string, failure: TransportFailure): MCPError {
  if (failure.kind === 'unauthorised' || failure.kind === 'told') return failure.error;
  const sent = !wasRefused(failure);
  const message = `${server.name}: no reply to ${method}: ${sentence(server, failure)}`;
  const retryable = failure.kind !== 'refused' || failure.status === 429;
  const why = sent ? MAY_HAVE_RUN : 'the server did not take it, so it did not run';
  const details = { sent, retryable, why, fix: fixOf(server, failure) };
  if (isAuth(failure)) return new AuthRequiredError(message, details);
  if (failure.kind === 'too-large') return new ResultTooLargeError(message, details);
  if (failure.kind === 'silent') return new MCPTimeoutError(message, details);
  if (failure.kind === 'nonsense') return new MCPProtocolError(message, details);
  return new MCPConnectionError(message, details);
}

/** The error of a call whose link ended like this. A lost connection does not show whether the server crashed. */
export function closedErrorOf({ name }: RemoteServer, ending: Ending, sent: boolean): MCPError {
  if (ending.kind !== 'error' || ending.cause !== 'lost' || !sent) return endingError(name, ending, sent);
  const { message, fix } = ending;
  return new MCPConnectionError(message, { sent, why: MAY_HAVE_RUN, fix });
}

/** The ending of a link that was closed by order, whose session the server refused to end. */
export function closeFailure(server: RemoteServer, failure: TransportFailure): Failed {
  const { message, fix } = failureOf(server, failure, true);
  const why = 'the connection is closed; the server may keep the session until it expires';
  return {
    kind: 'error',
    cause: 'close',
    message: `${message}, when asked to end the session`,
    why,
    ...(fix && { fix }),
  };
}

export function noHandshake(server: RemoteServer, timeoutMs: number): Failed {
  const message = `${server.name}: ${server.url} gave no initialize reply in ${seconds(timeoutMs)}`;
  const fix = `check that the server runs and is reachable, or raise 'timeout' of ${server.name}`;
  return { kind: 'error', cause: 'timeout', message, fix };
}

export function badHandshake(server: RemoteServer, why: string): Failed {
  const message = `${server.name}: the handshake with ${server.url} failed: ${why}`;
  return { kind: 'error', cause: 'protocol', message, fix: logs(server) };
}

function sentence(server: RemoteServer, failure: Described): string {
  const { url } = server;
  switch (failure.kind) {
    case 'unreachable':
      return `${url} cannot be reached: ${whyUnreachable(failure.code, failure.message)}`;
    case 'refused':
      return `${url} answered HTTP ${failure.status}${firstWords(failure.text)}`;
    case 'forgotten':
      return `${url} does not know our session any more (HTTP ${failure.status})`;
    case 'cut':
      return `the connection to ${url} broke${failure.code === undefined ? '' : ` (${failure.code})`}`;
    case 'no-reply':
      return `${url} ended the stream of its answer without a reply`;
    case 'silent':
      return `${url} sent nothing for ${seconds(failure.ms)}, the sse_read_timeout`;
    case 'no-pong':
      return `${url} did not answer a WebSocket ping in ${seconds(failure.ms)}`;
    case 'closed':
      return `${url} closed the WebSocket with code ${failure.code}${firstWords(failure.reason)}`;
    case 'too-large':
      return `${url} sent a message of ${failure.bytes} bytes or more, which max_message_bytes does not allow`;
    case 'nonsense':
      return `${url} answered with ${failure.why}`;
    case 'herd':
      return `the herd ${failure.herd} is away: ${failure.why}`;
    case 'node':
      return `the node ${failure.node} of the cluster is away: ${failure.why}`;
  }
}

function fixOf(server: RemoteServer, failure: Described): string {
  if (isAuth(failure)) return `check the credentials in 'headers' of ${server.name}`;
  switch (failure.kind) {
    case 'unreachable':
      return fixUnreachable(server, failure.code);
    case 'refused':
      if (failure.status < 300 || failure.status === 404 || failure.status === 405) {
        return `check 'url' and 'transport' of ${server.name}: an MCP server answers at one path, in one way`;
      }
      if (failure.status >= 300 && failure.status < 400) {
        return `set 'url' of ${server.name} to where it has moved; headers are not sent to another origin`;
      }
      return failure.status === 429 ? 'try again later' : `see the log of the server behind ${server.name}`;
    case 'too-large':
      return 'ask for less, or raise max_message_bytes of this server';
    case 'silent':
      return `raise sse_read_timeout of ${server.name} if its calls are silent for longer`;
    case 'nonsense':
      return `check 'url' and 'transport' of ${server.name}`;
    case 'forgotten':
      return 'try again: a new session is being opened';
    case 'herd':
      return `see "toolherd why ${shellWord(failure.herd)}"`;
    case 'node':
      return 'see "toolherd cluster status"';
    default:
      return `see "toolherd why ${shellWord(server.name)}", and the log of the server itself`;
  }
}

function whyUnreachable(code: string | undefined, message: string): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there (ECONNREFUSED)';
  if (code === 'ENOTFOUND') return 'its host is not known (ENOTFOUND)';
  if (code === 'EAI_AGAIN') return 'its name could not be looked up (EAI_AGAIN)';
  if (code === 'ETIMEDOUT') return 'no answer from its host (ETIMEDOUT)';
  if (code !== undefined && TLS_FAULT.test(code)) return `the TLS connection failed (${code})`;
  return code === undefined ? message : `the connection failed (${code})`;
}

function fixUnreachable(server: RemoteServer, code: string | undefined): string {
  if (code === 'EPROTO') return `check 'url' of ${server.name}: does the server speak TLS at that port?`;
  if (code !== undefined && TLS_FAULT.test(code)) {
    return 'correct the certificate, or name its authority in NODE_EXTRA_CA_CERTS and restart the daemon';
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `check the host in 'url' of ${server.name}, and the network`;
  return `start the server, or check 'url' of ${server.name}`;
}

function isAuth(failure: TransportFailure): boolean {
  return failure.kind === 'refused' && (failure.status === 401 || failure.status === 403);
}

/** Something else seems to answer in place of the server: its entry is wrong, or the server is being replaced. */
function couldBeWrongEntry(failure: TransportFailure): boolean {
  if (failure.kind === 'unreachable') return failure.code !== undefined && TLS_FAULT.test(failure.code);
  if (failure.kind === 'refused' && isAuth(failure)) return !failure.asksForToken;
  // a success counts too: a plain web server answers a WebSocket request with one
  if (failure.kind === 'refused') return failure.status < 400 || NO_SERVER_HERE.has(failure.status);
  return failure.kind === 'nonsense';
}

/** Enough of a body to recognise it, without HTML tags. */
function firstWords(text: string): string {
  const line = text
    .slice(0, BODY_LENGTH)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (line === '') return '';
  return `: ${line.length > WORDS_LENGTH ? `${line.slice(0, WORDS_LENGTH)}…` : line}`;
}

function logs(server: RemoteServer): string {
  return `see "toolherd logs ${shellWord(server.name)}"`;
}
