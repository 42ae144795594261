import type { ServerResponse } from 'node:http';
import type { IdText } from '../jsonrpc/message.js';

/** An answer of HTTP that is no answer of the herd: what is wrong, why, and how to do it right. */
export interface Refusal {
  status: number;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  /** Of JSON-RPC; the official servers use -32000 for what HTTP itself is about. */
  code?: number;
  data?: Record<string, unknown>;
  headers?: Readonly<Record<string, string>>;
  id?: IdText | undefined;
}

const HTTP_TROUBLE = -32_000;

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, headers } = refusal;
  sendText(response, status, 'application/json', `${refusalText(refusal)}\n`, headers);
}

/** Clients of MCP expect an error of JSON-RPC also here. */
export function refusalText(refusal: Refusal): string {
  const { message, why, fix, code = HTTP_TROUBLE, id = 'null' } = refusal;
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
