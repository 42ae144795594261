import type { ServerSpec } from '../config/spec.js';
import { MCPProtocolError } from '../link/errors.js';
import type { Link } from '../link/link.js';
import type { ListMethod } from '../link/list.js';
import type { JsonObject } from '../link/session/message.js';

/** What a server can say has changed. Its resources and their templates are one: it has one notification for both. */
export type ListName = 'tools' | 'prompts' | 'resources';

export const LIST_NAMES: readonly ListName[] = ['tools', 'prompts', 'resources'];

/** What a server offers, as it described it. Undefined is a list that nobody knows: not wanted, or not to be read. */
export interface Lists {
  tools: JsonObject[] | undefined;
  prompts: JsonObject[] | undefined;
  resources: JsonObject[] | undefined;
  templates: JsonObject[] | undefined;
}

/** What one reading brought: a list that was not asked for is not in it. */
export type Reading = Partial<Lists> & {
  /** For how long the server says that a list is good. */
  ttlMs?: Partial<Record<ListName, number>>;
};

export const NO_LISTS: Lists = {
  tools: undefined,
  prompts: undefined,
  resources: undefined,
  templates: undefined,
};

const NO_SUCH_METHOD = -32601;

/** Reads the lists that are asked for and wanted. One that cannot be read is logged: the others are still of use. */
export async function readLists(
  link: Link,
  spec: ServerSpec,
  log: (text: string) => void,
  names: readonly ListName[] = LIST_NAMES,
): Promise<Reading> {
  const reading: Reading = {};
  const read = async (key: keyof Lists, method: ListMethod, isWanted = true): Promise<void> => {
    reading[key] = undefined;
    if (!isWanted) return;
    const name = key === 'templates' ? 'resources' : key;
    const onTtl = (ms: number) => {
      reading.ttlMs = { ...reading.ttlMs, [name]: Math.min(ms, reading.ttlMs?.[name] ?? ms) };
    };
    try {
      reading[key] = await link.list(method, onTtl);
    } catch (error) {
      // Many servers have resources and have never heard of templates.
      if (key === 'templates' && isUnheardOf(error)) reading[key] = [];
      else log(`${method} could not be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const readings = {
    tools: () => [read('tools', 'tools/list', spec.loadTools)],
    prompts: () => [read('prompts', 'prompts/list', spec.loadPrompts)],
    resources: () => [read('resources', 'resources/list'), read('templates', 'resources/templates/list')],
  };
  await Promise.all(names.flatMap((name) => readings[name]()));
  return reading;
}

function isUnheardOf(error: unknown): boolean {
  return error instanceof MCPProtocolError && error.rpc?.code === NO_SUCH_METHOD;
}
