import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { RemoteSpec } from '../../config/fields/spec.js';
import { isObject, type JsonObject } from '../../shared/json.js';

/** A client that the user registered by hand. */
export interface GivenClient {
  /** An https url is a client metadata document (CIMD). */
  id: string;
  secret?: string | undefined;
}

/** The stored authorisation of one server. All of it is secret, and kept in one file. */
export interface AuthRecord {
  /** The authorization server, and its metadata. */
  discovery?: OAuthDiscoveryState | undefined;
  /** The resource that tokens are requested for (RFC 8707), as the server spells it. */
  resource?: string | undefined;
  given?: GivenClient | undefined;
  /** The registered client, with its issuer. */
  client?: StoredOAuthClientInformation | undefined;
  redirectUrl?: string | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** When the tokens were granted; their lifetime counts from here. */
  obtainedAt?: number | undefined;
  /** The scope of the request for the tokens; servers need not say what they granted. */
  scope?: string | undefined;
}

/** A token belongs to one server name and url. The query is left out: it may hold secrets. */
export function recordKey({ name, url }: Pick<RemoteSpec, 'name' | 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${name} ${origin}${pathname}`;
}

/** Tokens are renewed this long before they expire, so that none expires during a request. */
const EARLY_MS = 60_000;

/** When the token should be renewed; undefined where its lifetime is unknown. */
export function renewAt({ tokens, obtainedAt = 0 }: AuthRecord): number | undefined {
  if (tokens?.expires_in === undefined) return undefined;
  const lifeMs = tokens.expires_in * 1000;
  // a token with a lifetime under two minutes would be renewed at every request
  return obtainedAt + lifeMs - Math.min(EARLY_MS, lifeMs / 2);
}

export function hasEnded({ tokens, obtainedAt = 0 }: AuthRecord, now: number): boolean {
  return tokens?.expires_in !== undefined && now >= obtainedAt + tokens.expires_in * 1000;
}

/** Every secret value of a record. */
export function secretsOf({ tokens, client, given }: AuthRecord): string[] {
  const values = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, given?.secret];
  return [...values, client?.client_secret].filter(
    (value) => value !== undefined && value !== '',
  ) as string[];
}

/**
 * The valid fields of a record in the file. Files are edited by hand and damaged by disks: an invalid field counts as
 * missing, so that its server is authorised again instead of failing in the middle of a call.
 */
export function validRecord(raw: JsonObject): AuthRecord {
  const valid = Object.entries(SHAPES).filter(([key, isValid]) => isValid(raw[key]));
  return Object.fromEntries(valid.map(([key]) => [key, raw[key]]));
}

const SHAPES: Readonly<Record<keyof AuthRecord, (value: unknown) => boolean>> = {
  discovery: (value) =>
    isObject(value) &&
    isUrl(value.authorizationServerUrl) &&
    isMissingOr(isObject, value.authorizationServerMetadata),
  resource: isUrl,
  given: (value) => isObject(value) && isText(value.id) && isMissingOr(isText, value.secret),
  client: (value) => isObject(value) && isText(value.client_id) && isMissingOr(isText, value.client_secret),
  redirectUrl: isUrl,
  tokens: (value) =>
    isObject(value) &&
    isToken(value.access_token) &&
    isMissingOr(isText, value.refresh_token) &&
    isMissingOr(isText, value.id_token) &&
    isMissingOr(isText, value.scope) &&
    isMissingOr(Number.isFinite, value.expires_in),
  obtainedAt: Number.isFinite,
  scope: isText,
};

function isMissingOr(isValid: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || isValid(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** It is sent in a header. */
function isToken(value: unknown): boolean {
  return isText(value) && /^[\x21-\x7e]+$/.test(value);
}

function isUrl(value: unknown): boolean {
  return isText(value) && URL.canParse(value);
}
