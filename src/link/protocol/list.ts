import { MCPProtocolError } from '../../shared/call-errors.js';
import type { Outcome } from '../../shared/call-sink.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Session } from '../calls/session.js';

/** Which capability a list belongs to, and under which key a page holds its items. */
const LISTS = {
  'tools/list': { capability: 'tools', key: 'tools' },
  'prompts/list': { capability: 'prompts', key: 'prompts' },
  'resources/list': { capability: 'resources', key: 'resources' },
  'resources/templates/list': { capability: 'resources', key: 'resourceTemplates' },
} as const;

export type ListMethod = keyof typeof LISTS;

/** More pages than any sane server has. */
const MOST_PAGES = 1000;
/** A list is kept as long as its server is configured, and takes many times its wire size in memory. */
const MOST_MIB = 16;
const MOST_ITEMS = 100_000;

type Reply = Extract<Outcome, { ok: true }>;

export interface Listing {
  items: JsonObject[];
  /** How long the list is valid: the shortest `ttlMs` of its pages; undefined where none has one. */
  ttlMs: number | undefined;
}

/** Reads all pages. Items that are no objects are left out; the others keep every field. */
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
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply = await askFor(session, method, cursor === undefined ? undefined : { cursor });
    bytes += reply.bytes ?? 0;
    if (bytes > MOST_MIB * 2 ** 20) throw wrong(session.name, method, `it has more than ${MOST_MIB} MiB`);
    const { result } = reply;
    const part = result[key];
    if (!Array.isArray(part)) throw wrong(session.name, method, `it has no list of ${key}`);
    for (const item of part) if (isObject(item)) items.push(item);
    if (items.length > MOST_ITEMS)
      throw wrong(session.name, method, `it has more than ${MOST_ITEMS} entries`);
    if (typeof result.ttlMs === 'number') ttlMs = Math.min(result.ttlMs, ttlMs ?? result.ttlMs);
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '') return { items, ttlMs };
    if (seen.has(next)) throw wrong(session.name, method, 'its pages go in a circle');
    seen.add(next);
    cursor = next;
  }
  throw wrong(session.name, method, `it has more than ${MOST_PAGES} pages`);
}

/** A long reply comes unparsed, so that its size can be checked first. */
function askFor(session: Session, method: ListMethod, params: JsonObject | undefined): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: Outcome) => (outcome.ok ? resolve(outcome) : reject(outcome.error));
    session.send({ method, params, isOwn: true }, { settle, acceptsRaw: true });
  });
}

function wrong(name: string, method: string, why: string): MCPProtocolError {
  return new MCPProtocolError(`${name}: the reply to ${method} is unusable: ${why}`, {
    sent: true,
    why: 'the server answered with something that is no list of MCP',
    fix: `update the server, or report it to its authors; see "toolherd logs ${shellWord(name)}"`,
  });
}
