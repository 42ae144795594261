import type { BlockExtras, ContentBlock } from '../ipc/fleet.js';
import { isObject, type JsonObject } from '../link/session/message.js';

/**
 * The content of a tool's result as blocks of our own. Nothing is dropped: a block that is not known is kept as it came,
 * and what a known one holds beside its content is in `annotations`, `meta` and `more`. `unknown` hears of each type once.
 */
export function convertContent(content: unknown, unknown: (type: string) => void): ContentBlock[] {
  if (content === undefined) return [];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const reported = new Set<string>();
  return blocks.map((raw) => {
    const block = isObject(raw) ? convertBlock(raw) : undefined;
    if (block !== undefined) return block;
    const type = isObject(raw) && typeof raw.type === 'string' ? raw.type : typeof raw;
    if (!reported.has(type)) unknown(type);
    reported.add(type);
    return { type: 'unknown', original_type: type, raw };
  });
}

function convertBlock({ type, ...raw }: JsonObject): ContentBlock | undefined {
  switch (type) {
    case 'text': {
      const { text, ...rest } = raw;
      return typeof text === 'string' ? { type, text, ...extras(rest) } : undefined;
    }
    case 'image':
    case 'audio': {
      const { data, mimeType, ...rest } = raw;
      if (typeof data !== 'string') return undefined;
      return { type, data, mime_type: textIn(mimeType) ?? 'application/octet-stream', ...extras(rest) };
    }
    case 'resource': {
      const { resource, ...rest } = raw;
      return isObject(resource) ? embedded(resource, rest) : undefined;
    }
    case 'resource_link': {
      const { mimeType, uri, name, ...rest } = raw;
      const place = { mime_type: textIn(mimeType), uri: textIn(uri) };
      return { type: 'binary', data: null, ...place, ...named(name), ...extras(rest) };
    }
    default:
      return undefined;
  }
}

/** Text inside a resource is base64 too, so that one field holds the bytes whatever they are. */
function embedded(
  { blob, text, mimeType, uri, name, ...inner }: JsonObject,
  outer: JsonObject,
): ContentBlock {
  const bytes = textIn(blob);
  const written = textIn(text);
  const data = bytes ?? (written === null ? null : Buffer.from(written).toString('base64'));
  // one that has both is strange; the second is not lost
  const second = bytes !== null && written !== null ? { text: written } : {};
  const rest = { ...inner, ...second };
  return {
    type: 'binary',
    data,
    mime_type: textIn(mimeType),
    uri: textIn(uri),
    ...named(name),
    ...extras(Object.keys(rest).length === 0 ? outer : { ...outer, resource: rest }),
  };
}

function extras({ annotations, _meta, ...more }: JsonObject): BlockExtras {
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { meta: _meta }),
    ...(Object.keys(more).length === 0 ? {} : { more }),
  };
}

function named(name: unknown): { name?: string } {
  return typeof name === 'string' ? { name } : {};
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
