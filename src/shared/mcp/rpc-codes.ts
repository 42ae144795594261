/** The error codes of JSON-RPC itself. */
export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** The error codes that MCP adds, and the one that is left to implementations. */
export const MCP_CODE = {
  /** A known method that cannot be answered; an error of HTTP itself. */
  failed: -32_000,
  /** Over HTTP: no such session; the client begins a new one. */
  sessionNotFound: -32_001,
  /** No such resource, up to 2025-11-25. */
  resourceNotFound: -32_002,
  /** The headers and the body of a request differ (2026-07-28). */
  headerMismatch: -32_020,
  /** The request needs a capability of the client that its `_meta` does not have (2026-07-28). */
  missingCapability: -32_021,
  /** The requested version is not supported; `data.supported` lists those that are. */
  unsupportedVersion: -32_022,
} as const;
