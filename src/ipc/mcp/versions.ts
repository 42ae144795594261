/** The versions of MCP that are spoken here, the newest first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** The client's own where it is known; else the newest, and the client decides whether it can live with it. */
export function negotiate(wanted: unknown): string {
  return PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0];
}
