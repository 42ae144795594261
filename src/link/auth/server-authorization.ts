import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { RemoteSpec } from '../../config/fields/spec.js';
import { AuthRequiredError } from '../../shared/call-errors.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { Attempt } from './attempt.js';
import type { AuthFile } from './auth-file.js';
import type { Challenge } from './challenge.js';
import {
  noToken,
  notRenewedNow,
  renewalRefused,
  scopeNotEnough,
  scopeRequired,
  tokenRefused,
  unchallenged,
} from './errors.js';
import { oauthFetch } from './oauth-fetch.js';
import { type AuthRecord, type GivenClient, hasEnded, recordKey, renewAt, secretsOf } from './record.js';

export interface AuthorizationPorts {
  file: AuthFile;
  clock: Clock;
  /** New tokens are saved: the server can be used again. */
  granted(spec: RemoteSpec): void;
}

/** The authorisation of one server: keeps its tokens valid, and begins attempts for new ones. */
export class ServerAuthorization {
  readonly #spec: RemoteSpec;
  readonly #ports: AuthorizationPorts;
  readonly #key: string;
  #record: AuthRecord | undefined;
  #renewal: Promise<string> | undefined;
  #beginning: Promise<Attempt> | undefined;
  #attempt: Attempt | undefined;
  /** Counts cancellations: an attempt that began before the last one is discarded. */
  #round = 0;
  #challenge: Challenge | undefined;
  /** The scope that a request lacked, and that was not requested yet. */
  #wantedScope: string | undefined;

  constructor(spec: RemoteSpec, ports: AuthorizationPorts) {
    this.#spec = spec;
    this.#ports = ports;
    this.#key = recordKey(spec);
  }

  /** The token for the next request, renewed first if it is about to expire; undefined where there is none. */
  async token(): Promise<string | undefined> {
    const record = this.#known();
    const { tokens } = record;
    const dueAt = renewAt(record);
    if (tokens === undefined || dueAt === undefined || tokens.refresh_token === undefined) {
      return tokens?.access_token;
    }
    const { clock } = this.#ports;
    if (dateOf(clock) < dueAt) return tokens.access_token;
    try {
      return await this.renew(tokens.access_token);
    } catch (error) {
      if (error instanceof AuthRequiredError || hasEnded(record, dateOf(clock))) throw error;
      return tokens.access_token;
    }
  }

  /**
   * Replaces a refused token. Concurrent requests share one renewal; a request with an older token gets the current one.
   * Throws AuthRequiredError when a person is needed. `challenge`: of the refusal, where there was one.
   */
  async renew(refused: string, challenge?: Challenge): Promise<string> {
    const current = this.#known().tokens?.access_token;
    if (current !== undefined && current !== refused) return current;
    if (this.#renewal === undefined) {
      this.#renewal = this.#renew(refused, challenge).finally(() => {
        this.#renewal = undefined;
      });
    }
    return this.#renewal;
  }

  /** The server answered 401 without a token. An authorisation needs its challenge. */
  challenged(challenge: Challenge): AuthRequiredError {
    if (!challenge.asksForToken) return unchallenged(this.#spec.name, false);
    this.#challenge = challenge;
    return noToken(this.#spec.name);
  }

  /** The server answered 401 to the newest token that is possible without a person. */
  refused(token: string, challenge: Challenge): AuthRequiredError {
    if (!challenge.asksForToken) return unchallenged(this.#spec.name, true);
    this.#challenge = challenge;
    if (this.#known().tokens?.access_token === token) this.#change({ tokens: undefined });
    return tokenRefused(this.#spec.name);
  }

  /** The server answered 403 insufficient_scope. The scope is requested once, added to the earlier ones. */
  async lacksScope(challenge: Challenge): Promise<AuthRequiredError> {
    const sdk = await import('@modelcontextprotocol/client');
    const { scope, tokens } = this.#known();
    const had = sdk.computeScopeUnion(scope, tokens?.scope);
    const wanted = sdk.computeScopeUnion(had, this.#wantedScope, challenge.scope);
    if (!sdk.isStrictScopeSuperset(wanted, had)) return scopeNotEnough(this.#spec.name, challenge.scope);
    this.#wantedScope = wanted;
    this.#challenge = { ...this.#challenge, ...challenge };
    return scopeRequired(this.#spec.name, challenge.scope);
  }

  /** Whether there are tokens, and no known missing scope. */
  get isGranted(): boolean {
    return this.#known().tokens !== undefined && this.#wantedScope === undefined;
  }

  get hasChallenge(): boolean {
    return this.#challenge !== undefined;
  }

  /** The attempt that waits for a person; a new one if there is none. */
  begin(given: GivenClient | undefined): Promise<Attempt> {
    if (given !== undefined) {
      this.cancel();
      this.#change({ given, client: undefined, tokens: undefined });
    } else if (this.#attempt !== undefined) return Promise.resolve(this.#attempt);
    if (this.#beginning !== undefined) return this.#beginning;
    const beginning = this.#begin().finally(() => {
      if (this.#beginning === beginning) this.#beginning = undefined;
    });
    this.#beginning = beginning;
    return beginning;
  }

  /** Ends the attempt, also one that is still being prepared. */
  cancel(): void {
    this.#beginning = undefined;
    this.#round += 1;
    this.#attempt?.end(givenUp(this.#spec.name));
  }

  /** Removes everything that is stored, also a client given by the user. False when nothing was stored. */
  forget(): boolean {
    this.cancel();
    this.#wantedScope = undefined;
    this.#record = {};
    return this.#ports.file.write(this.#key, {});
  }

  /** Values that must not be shown anywhere. */
  get secrets(): string[] {
    return this.#record === undefined ? [] : secretsOf(this.#record);
  }

  async #begin(): Promise<Attempt> {
    const { clock } = this.#ports;
    const record = this.#known();
    const scope = this.#wantedScope ?? this.#challenge?.scope;
    const round = this.#round;
    const attempt = await Attempt.begin({
      spec: this.#spec,
      clock,
      record,
      challenge: { ...this.#challenge, scope },
      keep: (changes) => round === this.#round && this.#change(changes),
      granted: (changes) => {
        this.#wantedScope = undefined;
        this.#change(changes);
        this.#ports.granted(this.#spec);
      },
    });
    if (round !== this.#round) {
      const error = givenUp(this.#spec.name);
      attempt.end(error);
      throw error;
    }
    this.#attempt = attempt;
    const over = () => {
      if (this.#attempt === attempt) this.#attempt = undefined;
    };
    attempt.done.then(over, over);
    return attempt;
  }

  async #renew(refused: string, challenge: Challenge | undefined): Promise<string> {
    // another daemon of this user may have renewed it already
    this.#record = this.#ports.file.read(this.#key);
    const record = this.#record;
    const { tokens } = record;
    const { name } = this.#spec;
    if (tokens === undefined) throw noToken(name);
    if (tokens.access_token !== refused) return tokens.access_token;
    if (tokens.refresh_token === undefined) throw this.refused(refused, challenge ?? { asksForToken: true });
    const renewed = await this.#refresh(record, tokens.refresh_token);
    // a logout or a new authorisation during the renewal wins
    if (this.#record !== record) return this.#current();
    const kept = { ...tokens, ...renewed };
    this.#change({ tokens: kept, obtainedAt: dateOf(this.#ports.clock) });
    return kept.access_token;
  }

  #current(): string {
    const token = this.#record?.tokens?.access_token;
    if (token === undefined) throw noToken(this.#spec.name);
    return token;
  }

  async #refresh(record: AuthRecord, refreshToken: string): Promise<OAuthTokens> {
    const { discovery, client, resource } = record;
    const { name, url, timeoutMs } = this.#spec;
    if (discovery === undefined || client === undefined) throw renewalRefused(name, 'no-client');
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery;
    const sdk = await import('@modelcontextprotocol/client');
    try {
      return await sdk.refreshAuthorization(authorizationServerUrl, {
        clientInformation: client,
        refreshToken,
        fetchFn: oauthFetch(url, timeoutMs, this.#ports.clock),
        ...(metadata === undefined ? {} : { metadata }),
        ...(resource === undefined ? {} : { resource }),
      });
    } catch (error) {
      if (this.#record !== record) throw noToken(name);
      if (!(error instanceof sdk.OAuthError) || TRANSIENT.has(error.code)) {
        throw notRenewedNow(name, new URL(authorizationServerUrl).host, error);
      }
      const isClientGone = error.code === 'invalid_client' || error.code === 'unauthorized_client';
      this.#change({ tokens: undefined, ...(isClientGone ? { client: undefined } : {}) });
      throw renewalRefused(name, error.code);
    }
  }

  #known(): AuthRecord {
    this.#record ??= this.#ports.file.read(this.#key);
    return this.#record;
  }

  #change(changes: AuthRecord): void {
    this.#record = { ...this.#known(), ...changes };
    this.#ports.file.write(this.#key, this.#record);
  }
}

function givenUp(name: string): AuthRequiredError {
  return new AuthRequiredError(`${name}: the authorisation was given up`, {
    fix: `toolherd auth ${shellWord(name)}`,
  });
}

/** Errors that pass: the tokens may still be valid. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
]);
