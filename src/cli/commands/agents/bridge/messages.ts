import { CLOSING, type Closing } from '../../../../fleet/events.js';
import { RESOURCE_UPDATED } from '../../../../shared/mcp/mcp-names.js';
import { MCP_CODE } from '../../../../shared/mcp/rpc-codes.js';

/** The messages that the bridge writes itself. Ids are JSON text. */
const NEWLINE = Buffer.from('\n');
const CLOSING_HEAD = Buffer.from(`{"jsonrpc":"2.0","method":"${CLOSING}",`);

export function asLine(line: Buffer): Buffer {
  return Buffer.concat([line, NEWLINE]);
}

export function failureLine(id: string, message: string, data?: Record<string, unknown>): Buffer {
  const error = JSON.stringify({ code: MCP_CODE.failed, message, data });
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}\n`);
}

/** The closing notice of a daemon, which says why it ends; undefined for any other line. */
export function closingIn(line: Buffer): Closing | undefined {
  if (!line.subarray(0, CLOSING_HEAD.length).equals(CLOSING_HEAD)) return undefined;
  return (JSON.parse(line.toString()) as { params: Closing }).params;
}

/** Cancels a request of a daemon that has ended. */
export function cancelLine(id: string): Buffer {
  const params = `{"requestId":${id},"reason":"the toolherd daemon went away"}`;
  return Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}\n`);
}

interface Request {
  id: string;
  method: string;
  params: unknown;
}

export function requestText({ id, method, params }: Request): string {
  const tail = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}"${tail}}`;
}

const LISTS = ['tools', 'prompts', 'resources'];

export const LIST_CHANGES: readonly Buffer[] = LISTS.map((list) =>
  notification(`notifications/${list}/list_changed`),
);

export function updatedLine(uri: string): Buffer {
  return notification(RESOURCE_UPDATED, { uri });
}

/** A change notification for everything that a `subscriptions/listen` subscribes to. */
export function missedLines({ id, params }: Request): Buffer[] {
  const { notifications = {} } = (params ?? {}) as { notifications?: Record<string, unknown> };
  const { resourceSubscriptions: uris } = notifications;
  const _meta = { 'io.modelcontextprotocol/subscriptionId': JSON.parse(id) as unknown };
  const lists = LISTS.filter((list) => notifications[`${list}ListChanged`] === true);
  return [
    ...lists.map((list) => notification(`notifications/${list}/list_changed`, { _meta })),
    ...(Array.isArray(uris) ? uris : []).map((uri) => notification(RESOURCE_UPDATED, { uri, _meta })),
  ];
}

function notification(method: string, params?: object): Buffer {
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
}
