import * as sdk from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../src/link/protocol/mcp-2026/wire.js';
import * as names from '../../src/shared/mcp-names.js';

it('the names on the wire are those of the SDK', () => {
  expect({ ...names, METHOD_NOT_FOUND, INVALID_PARAMS }).toMatchObject({
    PROTOCOL_VERSION_KEY: sdk.PROTOCOL_VERSION_META_KEY,
    CLIENT_INFO_KEY: sdk.CLIENT_INFO_META_KEY,
    CLIENT_CAPABILITIES_KEY: sdk.CLIENT_CAPABILITIES_META_KEY,
    LOG_LEVEL_KEY: sdk.LOG_LEVEL_META_KEY,
    SERVER_INFO_KEY: sdk.SERVER_INFO_META_KEY,
    SUBSCRIPTION_ID_KEY: sdk.SUBSCRIPTION_ID_META_KEY,
    UNSUPPORTED_VERSION: sdk.ProtocolErrorCode.UnsupportedProtocolVersion,
    METHOD_NOT_FOUND: sdk.ProtocolErrorCode.MethodNotFound,
    INVALID_PARAMS: sdk.ProtocolErrorCode.InvalidParams,
  });
});
