import type { ContentBlock } from '../ipc/fleet.js';
import type { JsonObject } from '../link/session/message.js';

/** The content of a tool's result as blocks of our own. Nothing is dropped: what is not known is kept as it came. */
export function convertContent(content: unknown, unknown: (type: string) => void): ContentBlock[] {
  if (content === undefined) return [];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((raw) => {
    const block = isObject(raw) ? convertBlock(raw) : undefined;
    if (block !== undefined) return block;
    const type = isObject(raw) && typeof raw.type === 'string' ? raw.type : typeof raw;
    unknown(type);
    return { type: 'unknown', original_type: type, raw };
  });
}

function convertBlock(raw: JsonObject): ContentBlock | undefined {
  switch (raw.type) {
    case 'text':
      return typeof raw.text === 'string' ? { type: 'text', text: raw.text } : undefined;
    case 'image':
    case 'audio':
      if (typeof raw.data !== 'string') return undefined;
      return { type: raw.type, data: raw.data, mime_type: text(raw.mimeType) ?? 'application/octet-stream' };
    case 'resource':
      return isObject(raw.resource) ? embedded(raw.resource) : undefined;
    case 'resource_link':
      return { type: 'binary', data: null, mime_type: text(raw.mimeType), uri: text(raw.uri), ...named(raw) };
    default:
      return undefined;
  }
}

/** Text inside a resource is base64 too, so that one field holds the bytes whatever they are. */
function embedded(resource: JsonObject): ContentBlock {
  const blob = text(resource.blob);
  const inner = text(resource.text);
  const data = blob ?? (inner === null ? null : Buffer.from(inner).toString('base64'));
  return {
    type: 'binary',
    data,
    mime_type: text(resource.mimeType),
    uri: text(resource.uri),
    ...named(resource),
  };
}

function named(raw: JsonObject): { name?: string } {
  return typeof raw.name === 'string' ? { name: raw.name } : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
