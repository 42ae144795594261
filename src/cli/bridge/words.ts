/** The few things that a bridge says itself. Ids are JSON texts. */
const NEWLINE = Buffer.from('\n');
/** Of the range that JSON-RPC leaves to implementations. */
const FAILED = -32000;

export function asLine(line: Buffer): Buffer {
  return Buffer.concat([line, NEWLINE]);
}

export function failureLine(id: string, message: string, data?: Record<string, unknown>): Buffer {
  const error = JSON.stringify({ code: FAILED, message, data });
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}\n`);
}

/** A question of a daemon that is gone. */
export function cancelLine(id: string): Buffer {
  const params = `{"requestId":${id},"reason":"the toolherd daemon went away"}`;
  return Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}\n`);
}

export const LIST_CHANGES: readonly Buffer[] = ['tools', 'prompts', 'resources'].map((list) =>
  Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n`),
);
