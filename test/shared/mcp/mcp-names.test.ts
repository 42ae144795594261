import * as sdk from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import * as names from '../../../src/shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../src/shared/mcp/rpc-codes.js';

it('the names on the wire are those of the SDK', () => {
  expect({ ...names, ...CODE, ...MCP_CODE }).toMatchObject({
    PROTOCOL_VERSION_KEY: sdk.PROTOCOL_VERSION_META_KEY,
    CLIENT_INFO_KEY: sdk.CLIENT_INFO_META_KEY,
    CLIENT_CAPABILITIES_KEY: sdk.CLIENT_CAPABILITIES_META_KEY,
    LOG_LEVEL_KEY: sdk.LOG_LEVEL_META_KEY,
    SERVER_INFO_KEY: sdk.SERVER_INFO_META_KEY,
    SUBSCRIPTION_ID_KEY: sdk.SUBSCRIPTION_ID_META_KEY,
    unsupportedVersion: sdk.ProtocolErrorCode.UnsupportedProtocolVersion,
    methodNotFound: sdk.ProtocolErrorCode.MethodNotFound,
    invalidParams: sdk.ProtocolErrorCode.InvalidParams,
  });
});
