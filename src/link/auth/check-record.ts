import { isObject, type JsonObject } from '../../shared/json.js';
import type { AuthRecord } from './record.js';

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
