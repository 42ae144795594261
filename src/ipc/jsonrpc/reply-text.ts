import type { RawJson } from '../../shared/framing/raw-json.js';
import type { IdText } from './message.js';
import type { ErrorObject } from './rpc-error.js';

const CLOSE = Buffer.from('}');

/** The bytes of the server, in an envelope of ours. */
export function rawText(id: IdText, { pieces }: RawJson): Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`), ...pieces, CLOSE];
}

export function errorText(id: IdText, { code, message, data }: ErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`;
}
