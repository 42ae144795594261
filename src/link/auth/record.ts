import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { RemoteSpec } from '../../config/schema/spec.js';

/** A client that somebody registered by hand, and gave us. */
export interface GivenClient {
  /** An https url is the address of a client metadata document (CIMD). */
  id: string;
  secret?: string | undefined;
}

/** What is known of the authorisation at one server. All of it is secret, and lives in one file. */
export interface AuthRecord {
  /** Where the server sends those who want in, and how that place describes itself. */
  discovery?: OAuthDiscoveryState | undefined;
  /** What tokens are asked for (RFC 8707), as the server spells it. */
  resource?: string | undefined;
  given?: GivenClient | undefined;
  /** As registered, with the issuer it was registered at. */
  client?: StoredOAuthClientInformation | undefined;
  redirectUrl?: string | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** When the tokens came; their life counts from here. */
  obtainedAt?: number | undefined;
  /** What was asked for when the tokens were asked for; servers need not say what they granted. */
  scope?: string | undefined;
}

/** A token is for one name at one place. The query is left out: it may hold what nobody should read. */
export function recordKey({ name, url }: Pick<RemoteSpec, 'name' | 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${name} ${origin}${pathname}`;
}

/** Tokens are renewed this long before they end, so that none ends on its way. */
const EARLY_MS = 60_000;

/** When the token should be renewed; undefined where the server did not say how long it lives. */
export function renewAt({ tokens, obtainedAt = 0 }: AuthRecord): number | undefined {
  if (tokens?.expires_in === undefined) return undefined;
  const lifeMs = tokens.expires_in * 1000;
  // one that lives for less than two minutes would be renewed on every request
  return obtainedAt + lifeMs - Math.min(EARLY_MS, lifeMs / 2);
}

export function hasEnded({ tokens, obtainedAt = 0 }: AuthRecord, now: number): boolean {
  return tokens?.expires_in !== undefined && now >= obtainedAt + tokens.expires_in * 1000;
}

/** Every value of a record that must not be read by anybody. */
export function secretsOf({ tokens, client, given }: AuthRecord): string[] {
  const values = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, given?.secret];
  return [...values, client?.client_secret].filter(
    (value) => value !== undefined && value !== '',
  ) as string[];
}
