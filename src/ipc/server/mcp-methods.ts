import { MCP_2026_VERSION } from '../../shared/mcp/mcp-names.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { Params } from '../jsonrpc/params.js';
import type { Peer } from '../jsonrpc/peer.js';
import { RpcError } from '../jsonrpc/rpc-error.js';
import { readEnvelope } from '../mcp/mcp-2026/envelope.js';
import { answerMcp2026, MCP_2026_METHODS } from '../mcp/mcp-2026/methods.js';
import { MCP_METHODS } from '../mcp/methods.js';
import type { McpSession } from '../mcp/session.js';

/** Handles MCP on a connection, in both eras: each request of 2026-07-28 has its version in `_meta`. */
export function handleMcp(peer: Peer, session: McpSession): void {
  for (const method of new Set([...Object.keys(MCP_METHODS), ...Object.keys(MCP_2026_METHODS)])) {
    const run = Object.hasOwn(MCP_METHODS, method) ? MCP_METHODS[method] : undefined;
    peer.handle(method, (raw, context) => {
      const params = new Params(raw);
      const envelope = readEnvelope(raw);
      if (envelope !== undefined) return answerMcp2026({ method, session, envelope, params, context, raw });
      if (run !== undefined) return run(session, params, context, raw);
      const message = `Invalid params: ${method} is of ${MCP_2026_VERSION}, and '_meta' does not say so`;
      throw new RpcError(CODE.invalidParams, message);
    });
  }
}
