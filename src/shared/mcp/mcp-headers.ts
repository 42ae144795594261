/**
 * HTTP headers that repeat parts of a message since MCP 2026-07-28, so that a proxy can route by them. src/link writes
 * them, src/ipc checks them.
 */

/** In the schema of an argument: the name of the header that repeats the argument, without its prefix. */
export const PARAM_HEADER_KEY = 'x-mcp-header';
export const PARAM_HEADER_PREFIX = 'Mcp-Param-';
/** Deeper than any sane schema; a deeper one is not searched, which could fill the stack. */
export const MOST_SCHEMA_DEPTH = 64;

/** Plain text where a header can hold it, else base64 marked as `=?base64?…?=`. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** Undefined when the value is marked as base64 but is not valid base64. */
export function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}
