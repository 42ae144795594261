/**
 * Protocol 2026-07-28 as it stands on the wire. Written by hand: the v2 SDK's client would cost an import of 300 kB and
 * a second parse of every message for what are three requests of our own (`server/discover`, which also takes the
 * place of ping, and `subscriptions/listen`) and an envelope, and its `listTools` and `callTool` validate away what they
 * do not know, as v1's do. A test holds these names against the SDK's own.
 */
import type { JsonObject } from '../session/message.js';

export const MODERN_VERSION = '2026-07-28';

export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
/** Which `subscriptions/listen` a notification belongs to: its id. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';
export const CONFIG_KEY = 'toolherd/config';

/** The server speaks none of the versions that were asked for; its `data.supported` says which it does. */
export const UNSUPPORTED_VERSION = -32022;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;

export interface EnvelopeParts {
  clientInfo: { name: string; version: string };
  capabilities: JsonObject;
  /** From which level on the server may send log messages; without it it sends none. */
  logLevel: string | undefined;
  config: Readonly<Record<string, unknown>> | undefined;
}

/** What every request says of itself in its `_meta`. */
export function envelopeOf({ clientInfo, capabilities, logLevel, config }: EnvelopeParts): JsonObject {
  return {
    [PROTOCOL_VERSION_KEY]: MODERN_VERSION,
    [CLIENT_INFO_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_KEY]: capabilities,
    ...(logLevel === undefined ? {} : { [LOG_LEVEL_KEY]: logLevel }),
    ...(config === undefined ? {} : { [CONFIG_KEY]: config }),
  };
}
