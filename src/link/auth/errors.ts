import type { ClusterServerSpec, HerdServerSpec, RemoteSpec } from '../../config/fields/spec.js';
import type { Failed } from '../../machines/restart/ending.js';
import { AuthRequiredError, MCPConnectionError } from '../../shared/call-errors.js';
import type { ErrorDetails } from '../../shared/errors.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Challenge } from './challenge.js';

/** One request needs a scope that the token lacks; others may not need it. */
export class ScopeRequiredError extends AuthRequiredError {}

/** A 401 that asks for no token: from the server, or from a gateway in front of it. */
class UnchallengedError extends AuthRequiredError {}

/** The ending of a link whose server answered 401. */
export function authEnding(error: AuthRequiredError): Failed {
  const { message, why, fix } = error;
  const nextTry = error instanceof UnchallengedError ? { looksMisconfigured: true } : { permanent: true };
  const advice = { ...(why === undefined ? {} : { why }), ...(fix === undefined ? {} : { fix }) };
  return { kind: 'error', cause: 'auth', message, ...nextTry, ...advice };
}

export function noToken(name: string): AuthRequiredError {
  return required(name, 'wants an authorisation', 'it answered 401, and there is no token for it');
}

export function tokenRefused(name: string): AuthRequiredError {
  return required(name, 'wants a new authorisation', 'it answered 401 to the token that we have');
}

/** `hasToken`: the request had our token, which is kept. */
export function unchallenged(name: string, hasToken: boolean): AuthRequiredError {
  return new UnchallengedError(`${name}: answered 401 and did not ask for a token`, {
    why: hasToken ? 'it does not accept the token that we have' : 'there is no token for it',
    fix: hasToken
      ? `toolherd auth ${shellWord(name)} --logout; then: toolherd auth ${shellWord(name)}`
      : `toolherd auth ${shellWord(name)}`,
  });
}

/** `code`: the error code of the authorization server. */
export function renewalRefused(name: string, code: string): AuthRequiredError {
  return required(name, 'wants a new authorisation', `its token could not be renewed (${word(code)})`);
}

export function notGranted(name: string, why: string, cause?: unknown): AuthRequiredError {
  return required(name, 'was not authorised', why, cause);
}

export function notRenewedNow(name: string, host: string, cause: unknown): MCPConnectionError {
  return new MCPConnectionError(`${name}: its token could not be renewed now`, {
    why: `${host} gave no usable answer`,
    fix: `try again; if it stays so: toolherd auth ${shellWord(name)}`,
    retryable: true,
    cause,
  });
}

export function scopeRequired(name: string, scope: string | undefined): ScopeRequiredError {
  const wanted = scope === undefined ? 'another scope' : `the scope ${words(scope)}`;
  return new ScopeRequiredError(`${name}: wants more than it was authorised for`, {
    why: `it answered 403 and asks for ${wanted}; the call was not taken`,
    fix: `toolherd auth ${shellWord(name)}`,
  });
}

/** The scope was requested, granted or not, and did not help: another request would loop for ever. */
export function scopeNotEnough(name: string, scope: string | undefined): ScopeRequiredError {
  const asked = scope === undefined ? '' : ` for ${words(scope)}`;
  return new ScopeRequiredError(`${name}: refuses what it was authorised for`, {
    why: `it answered 403 and asks${asked}, which the authorisation asked for already`,
    fix: `check what your account may do there; another account: toolherd auth ${shellWord(name)} --logout`,
  });
}

/** The header in the config is the authorisation; no other is tried. */
export function headerRefused(
  { name, origin }: RemoteSpec,
  header: string,
  { asksForToken }: Challenge,
): AuthRequiredError {
  const Refused = asksForToken ? AuthRequiredError : UnchallengedError;
  return new Refused(`${name}: does not accept the credentials that it was given`, {
    why: `it answered 401 to 'headers.${header}' of its config`,
    fix: `correct the value of 'headers.${header}' (${origin.file}:${origin.line}) or the variable in it, then: toolherd reset ${shellWord(name)}`,
  });
}

/** No specification says how a WebSocket would be authorised. */
export function headersOnly({ name, origin }: RemoteSpec): AuthRequiredError {
  return new AuthRequiredError(`${name}: a WebSocket server is authorised by its headers`, {
    fix: `set 'headers.Authorization' of ${name} (${origin.file}:${origin.line})`,
  });
}

/** The herd of the server keeps its tokens. */
export function elsewhere({ name, herd, remoteName }: HerdServerSpec): AuthRequiredError {
  return new AuthRequiredError(`${name}: the herd ${herd} authorises it`, {
    why: 'the tokens of a server stay with the daemon that keeps it',
    fix: `on the machine of ${herd}: toolherd auth ${shellWord(remoteName)}`,
  });
}

/** A server that only other nodes of the cluster run. */
export function onNodes({ name }: ClusterServerSpec): AuthRequiredError {
  return new AuthRequiredError(`${name}: the nodes that have it authorise it`, {
    why: 'the tokens of a server stay with the daemons that keep it',
    fix: `on each of these nodes: toolherd auth ${shellWord(name)}; "toolherd cluster status" lists them`,
  });
}

function required(name: string, what: string, why: string, cause?: unknown): AuthRequiredError {
  const details: ErrorDetails = { why, fix: `toolherd auth ${shellWord(name)}`, cause };
  return new AuthRequiredError(`${name}: ${what}`, details);
}

/** Of an answer of another server only a plain word is shown. */
export function word(text: string): string {
  return /^[\w.-]{1,60}$/.test(text) ? text : 'no reason given';
}

function words(scope: string): string {
  const names = scope.split(/\s+/).filter((name) => /^[\x21-\x7e]{1,80}$/.test(name));
  return `'${names.slice(0, 10).join(' ')}'`;
}
