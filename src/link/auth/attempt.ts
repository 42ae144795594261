import { randomBytes } from 'node:crypto';
import type { OAuthDiscoveryState, OAuthTokens } from '@modelcontextprotocol/client';
import type { RemoteSpec } from '../../config/fields/spec.js';
import { AuthRequiredError, MCPTimeoutError } from '../../shared/call-errors.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { codeOf } from '../../shared/errors.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { Callback } from './callback.js';
import type { Challenge } from './challenge.js';
import { ClientProvider } from './client-provider.js';
import { notGranted, word } from './errors.js';
import { oauthFetch } from './oauth-fetch.js';
import type { AuthRecord } from './record.js';

export interface AttemptPorts {
  spec: RemoteSpec;
  clock: Clock;
  record: AuthRecord;
  challenge: Challenge;
  /** Saves a registration at once, however the attempt ends. */
  keep(changes: AuthRecord): unknown;
  /** Saves the tokens. */
  granted(changes: AuthRecord): void;
}

/** How long a person may take to authorise. */
const PERSON_MS = 5 * 60_000;

/** One authorisation that waits for a person. */
export class Attempt {
  readonly url: string;
  /** Resolves when the tokens are saved; rejects when the person refuses or does not answer in time. */
  readonly done: Promise<void>;
  readonly #ports: AttemptPorts;
  readonly #provider: ClientProvider;
  readonly #callback: Callback;
  readonly #timer: unknown;
  #settle!: { resolve(): void; reject(error: Error): void };
  /** Why the attempt was ended, where it was. */
  #endedBy: Error | undefined;

  private constructor(ports: AttemptPorts, provider: ClientProvider, callback: Callback, url: URL) {
    this.#ports = ports;
    this.#provider = provider;
    this.#callback = callback;
    this.url = url.href;
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // no unhandled rejection where no caller waits for it
    this.done.catch(() => undefined);
    this.#timer = ports.clock.setTimeout(() => this.end(tooLate(ports.spec.name)), PERSON_MS);
  }

  /** Finds the authorization server, and makes the address that the person has to open. */
  static async begin(ports: AttemptPorts): Promise<Attempt> {
    const { spec, record, challenge, clock } = ports;
    const sdk = await import('@modelcontextprotocol/client');
    const state = randomBytes(32).toString('base64url');
    let attempt: Attempt | undefined;
    const arrived = async (params: URLSearchParams) => attempt?.arrived(params);
    const callback = await listen(record.redirectUrl, state, arrived);
    try {
      const fetchFn = oauthFetch(spec.url, spec.timeoutMs, clock);
      const { resourceMetadataUrl, scope } = challenge;
      const where = { fetchFn, ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }) };
      const discovery: OAuthDiscoveryState = await sdk.discoverOAuthServerInfo(spec.url, where);
      const isMoved = record.redirectUrl !== callback.url;
      const provider = new ClientProvider({
        redirectUrl: callback.url,
        state,
        discovery,
        given: record.given,
        // a registration is bound to its redirect address
        client: isMoved && record.given === undefined ? undefined : record.client,
        saveClient: (client) => ports.keep({ client, redirectUrl: callback.url }),
      });
      const asked = { serverUrl: spec.url, forceReauthorization: true, ...where };
      await sdk.auth(provider, { ...asked, ...(scope === undefined ? {} : { scope }) });
      attempt = new Attempt(ports, provider, callback, provider.authorizationUrl!);
      return attempt;
    } catch (error) {
      callback.close();
      throw error instanceof AuthRequiredError ? error : cannotAsk(spec.name, error);
    }
  }

  /** Ends the attempt: `done` rejects with the error. */
  end(error: Error): void {
    this.#endedBy ??= error;
    this.#close();
    this.#settle.reject(error);
  }

  /** The browser came back with the right state: a code, or a refusal. */
  async arrived(params: URLSearchParams): Promise<void> {
    const { name } = this.#ports.spec;
    try {
      const tokens = await this.#exchange(params);
      if (this.#endedBy !== undefined) throw this.#endedBy;
      const scope = new URL(this.url).searchParams.get('scope') ?? undefined;
      this.#ports.granted({
        tokens: { ...tokens, ...(this.#issuer === undefined ? {} : { issuer: this.#issuer }) },
        obtainedAt: dateOf(this.#ports.clock),
        discovery: this.#provider.discoveryState(),
        resource: this.#provider.resource,
        client: this.#provider.client,
        redirectUrl: this.#provider.redirectUrl,
        scope,
      });
      this.#close();
      this.#settle.resolve();
    } catch (error) {
      const failure =
        error instanceof AuthRequiredError ? error : notGranted(name, oauthFailureText(error), error);
      this.end(failure);
      throw failure;
    }
  }

  get #issuer(): string | undefined {
    return this.#provider.discoveryState().authorizationServerMetadata?.issuer;
  }

  async #exchange(params: URLSearchParams): Promise<OAuthTokens> {
    const { spec, clock } = this.#ports;
    const provider = this.#provider;
    const sdk = await import('@modelcontextprotocol/client');
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = provider.discoveryState();
    const iss = params.get('iss') ?? undefined;
    // checked before anything else is used: the answer may come from another server (RFC 9207)
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const error = params.get('error');
    if (error !== null) throw notGranted(spec.name, `the answer was ${word(error)}`);
    const code = params.get('code');
    if (code === null) throw notGranted(spec.name, 'the answer had no code in it');
    return sdk.exchangeAuthorization(authorizationServerUrl, {
      clientInformation: provider.client!,
      authorizationCode: code,
      codeVerifier: provider.verifier,
      redirectUri: provider.redirectUrl,
      fetchFn: oauthFetch(spec.url, spec.timeoutMs, clock),
      ...(metadata === undefined ? {} : { metadata }),
      ...(iss === undefined ? {} : { iss }),
      ...(provider.resource === undefined ? {} : { resource: provider.resource }),
    });
  }

  #close(): void {
    this.#ports.clock.clearTimeout(this.#timer);
    this.#callback.close();
  }
}

/** On the registered port, where it is free: not every server accepts another port. */
async function listen(
  registered: string | undefined,
  state: string,
  arrived: (params: URLSearchParams) => Promise<void>,
): Promise<Callback> {
  const port = registered === undefined ? 0 : Number(new URL(registered).port);
  try {
    return await Callback.listen({ state, port, arrived });
  } catch (error) {
    if (port === 0) throw error;
    return Callback.listen({ state, port: 0, arrived });
  }
}

function tooLate(name: string): MCPTimeoutError {
  return new MCPTimeoutError(`${name}: it was not authorised within ${PERSON_MS / 60_000} minutes`, {
    fix: `toolherd auth ${shellWord(name)}`,
  });
}

function cannotAsk(name: string, cause: unknown): AuthRequiredError {
  const given = `toolherd auth ${shellWord(name)} --client-id ID --client-secret-stdin`;
  return new AuthRequiredError(`${name}: an authorisation cannot be asked for`, {
    why: oauthFailureText(cause),
    fix: `give a client that is registered there (${given}), or set 'headers.Authorization' in its config`,
    cause,
  });
}

/**
 * Why it failed. The SDK quotes answers of authorization servers, which may hold anything; only its own words are passed
 * on.
 */
function oauthFailureText(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = codeOf(error);
  if (code !== undefined) return `the authorization server said: ${word(code)}`;
  if (error.name === 'RegistrationRejectedError' && 'status' in error) {
    return `the authorization server refused to register toolherd (HTTP ${error.status})`;
  }
  if (error.name === 'IssuerMismatchError')
    return 'the answer came from another authorization server (RFC 9207)';
  if (error.name === 'TypeError') return `the authorization server cannot be reached`;
  if ('issues' in error || error.name === 'SyntaxError') return 'its metadata makes no sense';
  return error.message.slice(0, 200);
}
