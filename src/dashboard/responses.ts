import type { ServerResponse } from 'node:http';
import type { Refusal } from '../ipc/http/refusal.js';

const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Of every response: nothing of another origin, nothing inline, no frame around it, and no trace of its address. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

export interface PageBody {
  type: string;
  encoding?: string | undefined;
  bytes: Buffer;
}

export function sendPage(response: ServerResponse, { type, encoding, bytes }: PageBody): void {
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'Content-Type': type,
    'Content-Length': bytes.length,
    Vary: 'Accept-Encoding',
    ...(encoding && { 'Content-Encoding': encoding }),
  });
  response.end(bytes);
}

/** A person reads it, so it is text. */
export function refusePage(response: ServerResponse, { status, message, why, fix, headers }: Refusal): void {
  const text = `${[message, why, fix].filter(Boolean).join('\n')}\n`;
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.end(text);
}
