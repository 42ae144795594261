import { MCPProtocolError } from './errors.js';
import { isObject, type JsonObject } from './session/message.js';
import type { Session } from './session/session.js';

/** Which capability a list belongs to, and under which key a page holds its items. */
const LISTS = {
  'tools/list': { capability: 'tools', key: 'tools' },
  'prompts/list': { capability: 'prompts', key: 'prompts' },
  'resources/list': { capability: 'resources', key: 'resources' },
  'resources/templates/list': { capability: 'resources', key: 'resourceTemplates' },
} as const;

export type ListMethod = keyof typeof LISTS;

/** More pages than any honest server has. */
const MOST_PAGES = 1000;

export interface Listing {
  items: JsonObject[];
  /** For how long the server says that this holds, by its most cautious page; undefined where it says nothing. */
  ttlMs: number | undefined;
}

/** Reads all pages. Items that are no objects are left out; everything in the others stays. */
export async function listAll(
  session: Session,
  capabilities: JsonObject,
  method: ListMethod,
): Promise<Listing> {
  const { capability, key } = LISTS[method];
  if (!isObject(capabilities[capability])) return { items: [], ttlMs: undefined };
  const items: JsonObject[] = [];
  let ttlMs: number | undefined;
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const result = await session.call(method, cursor === undefined ? undefined : { cursor });
    const part = result[key];
    if (!Array.isArray(part)) throw wrong(session.name, method, `it has no list of ${key}`);
    for (const item of part) if (isObject(item)) items.push(item);
    if (typeof result.ttlMs === 'number') ttlMs = Math.min(result.ttlMs, ttlMs ?? result.ttlMs);
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '') return { items, ttlMs };
    if (seen.has(next)) throw wrong(session.name, method, 'its pages go in a circle');
    seen.add(next);
    cursor = next;
  }
  throw wrong(session.name, method, `it has more than ${MOST_PAGES} pages`);
}

function wrong(name: string, method: string, why: string): MCPProtocolError {
  return new MCPProtocolError(`${name}: the reply to ${method} is unusable: ${why}`, { sent: true });
}
