import type { ServerResponse } from 'node:http';
import { MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { IdText } from '../jsonrpc/message.js';

/** An HTTP error that does not come from the herd: what is wrong, why, and how to fix it. */
export interface Refusal {
  status: number;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  /** The JSON-RPC code. By default that of official servers for errors of HTTP itself. */
  code?: number;
  data?: Record<string, unknown>;
  headers?: Readonly<Record<string, string>>;
  id?: IdText | undefined;
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, headers } = refusal;
  sendText(response, status, 'application/json', `${refusalText(refusal)}\n`, headers);
}

/** MCP clients expect a JSON-RPC error in the body. */
export function refusalText(refusal: Refusal): string {
  const { message, why, fix, code = MCP_CODE.failed, id = 'null' } = refusal;
  const details = { ...refusal.data, ...(why && { why }), ...(fix && { fix }) };
  const data = Object.keys(details).length === 0 ? undefined : details;
  const error = JSON.stringify({ code, message: [message, why, fix].filter(Boolean).join('; '), data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...headers,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
