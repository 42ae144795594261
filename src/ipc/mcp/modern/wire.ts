/** Protocol 2026-07-28 towards clients, as it stands on the wire. A test holds these names against the SDK's own. */
export const MODERN_VERSION = '2026-07-28';
/** What a request of that era may say in its `_meta` that it speaks. */
export const MODERN_VERSIONS: readonly string[] = [MODERN_VERSION];

export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
/** Which `subscriptions/listen` a notification belongs to: its id. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

/** The version that a request names is none that is spoken here. */
export const UNSUPPORTED_VERSION = -32022;
