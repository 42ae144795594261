/**
 * Names of protocol 2026-07-28, for src/link towards servers and src/ipc towards clients. A test compares them with those
 * of the SDK.
 */
export const MCP_2026_VERSION = '2026-07-28';

export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
/** Which `subscriptions/listen` a notification belongs to: its id. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

/** The requested version is not supported; `data.supported` lists those that are. */
export const UNSUPPORTED_VERSION = -32022;
