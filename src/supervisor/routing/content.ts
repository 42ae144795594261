import type { BlockExtras, ContentBlock } from '../../fleet/fleet.js';
import { isObject, type JsonObject } from '../../shared/json.js';

/** Each is shown with its type; `{}` becomes twenty times as long by that, and a server can send twenty million. */
const MOST_UNKNOWN = 10_000;
/** Types that are worth a line in the log. */
const MOST_REPORTED = 20;

/**
 * The content of a tool's result as blocks of our own. Nothing is dropped: a block that is not known is kept as it came,
 * and what a known one holds beside its content is in `annotations`, `meta` and `more`. `unknown` hears of each type
 * once. After very many that are not known, those that stand together are kept together, as blocks of type `several`.
 */
export function convertContent(content: unknown, unknown: (type: string) => void): ContentBlock[] {
  if (content === undefined) return [];
  const blocks: ContentBlock[] = [];
  const reported = new Set<string>();
  let unknowns = 0;
  let several: unknown[] | undefined;
  for (const raw of Array.isArray(content) ? content : [content]) {
    const block = isObject(raw) ? convertBlock(raw) : undefined;
    if (block !== undefined) {
      blocks.push(block);
      several = undefined;
      continue;
    }
    const type = isObject(raw) && typeof raw.type === 'string' ? raw.type : typeof raw;
    if (reported.size < MOST_REPORTED && !reported.has(type)) {
      reported.add(type);
      unknown(type);
    }
    unknowns += 1;
    if (unknowns <= MOST_UNKNOWN) blocks.push({ type: 'unknown', original_type: type, raw });
    else if (several !== undefined) several.push(raw);
    else {
      several = [raw];
      blocks.push({ type: 'unknown', original_type: 'several', raw: several });
    }
  }
  return blocks;
}

const KNOWN: readonly unknown[] = ['text', 'image', 'audio', 'resource', 'resource_link'];

function convertBlock(block: JsonObject): ContentBlock | undefined {
  // before it is copied: there may be millions
  if (!KNOWN.includes(block.type)) return undefined;
  const { type, ...raw } = block;
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
