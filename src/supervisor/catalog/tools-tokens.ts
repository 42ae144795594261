import { toolTokens } from '../../fleet/definitions.js';
import type { JsonObject } from '../../shared/json.js';
import { toolEntry } from './entries.js';
import type { PublicEntry } from './public-names.js';

/** By definition: it is counted once, however often the status is asked for. */
const counted = new WeakMap<JsonObject, number>();

/** What these tools cost an agent that lists them. */
export function tokensOfTools(tools: readonly PublicEntry[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfTool(tool), 0);
}

function tokensOfTool(tool: PublicEntry): number {
  const { server, name, definition, alias } = tool;
  // what depends on more than the definition is not kept
  if (alias !== undefined || server.catalog.blockOf(name) !== undefined) return toolTokens(toolEntry(tool));
  const known = counted.get(definition) ?? toolTokens(toolEntry(tool));
  counted.set(definition, known);
  return known;
}
