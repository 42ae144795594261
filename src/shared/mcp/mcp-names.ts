/**
 * Names of MCP that src/link speaks towards servers and src/ipc towards clients. A test compares those of protocol
 * 2026-07-28 with the SDK's own.
 */
export const MCP_2026_VERSION = '2026-07-28';

export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
/** In `_meta` of a notification: the id of the `subscriptions/listen` that it belongs to. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

/** The notification that a resource has changed. */
export const RESOURCE_UPDATED = 'notifications/resources/updated';

/** The notification that a list has changed; its first group names the list. */
export const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;
