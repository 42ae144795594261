/**
 * Protocol 2026-07-28 as it stands on the wire. Written by hand: the v2 SDK's client would cost an import of 300 kB and
 * a second parse of every message for what are three requests of our own (`server/discover`, which also takes the
 * place of ping, and `subscriptions/listen`) and an envelope, and its `listTools` and `callTool` validate away what they
 * do not know, as v1's do.
 */

import type { JsonObject } from '../../../shared/json.js';
import {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  LOG_LEVEL_KEY,
  MCP_2026_VERSION,
  PROTOCOL_VERSION_KEY,
} from '../../../shared/mcp-names.js';

export const CONFIG_KEY = 'toolherd/config';

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
    [PROTOCOL_VERSION_KEY]: MCP_2026_VERSION,
    [CLIENT_INFO_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_KEY]: capabilities,
    ...(logLevel === undefined ? {} : { [LOG_LEVEL_KEY]: logLevel }),
    ...(config === undefined ? {} : { [CONFIG_KEY]: config }),
  };
}
