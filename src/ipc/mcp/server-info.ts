import { VERSION } from '../../shared/version.js';

/** How the herd introduces itself to clients of MCP, in every era. */
export const SERVER_INFO = { name: 'toolherd', version: VERSION };

export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
};

/** The versions of MCP with a handshake that agents can speak, the newest first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** The version of the client where it is known; else the newest, and the client decides whether it accepts that. */
export function negotiate(wanted: unknown): string {
  return PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0];
}
