import type { ServerSpec } from '../config/spec.js';
import type { Link } from '../link/link.js';
import type { ListMethod } from '../link/list.js';
import type { JsonObject } from '../link/session/message.js';

/** What a server offers, as it described it. Undefined is a list that nobody knows: not wanted, or not to be read. */
export interface Lists {
  tools: JsonObject[] | undefined;
  prompts: JsonObject[] | undefined;
  resources: JsonObject[] | undefined;
}

export const NO_LISTS: Lists = { tools: undefined, prompts: undefined, resources: undefined };

/** Reads every list that is wanted. One that cannot be read is logged: the others are still of use. */
export async function readLists(link: Link, spec: ServerSpec, log: (text: string) => void): Promise<Lists> {
  const read = async (method: ListMethod, isWanted: boolean): Promise<JsonObject[] | undefined> => {
    if (!isWanted) return undefined;
    try {
      return await link.list(method);
    } catch (error) {
      log(`${method} could not be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const [tools, prompts, resources] = await Promise.all([
    read('tools/list', spec.loadTools),
    read('prompts/list', spec.loadPrompts),
    read('resources/list', true),
  ]);
  return { tools, prompts, resources };
}
