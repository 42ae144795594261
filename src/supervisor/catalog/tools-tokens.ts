import type { JsonObject } from '../../shared/json.js';
import { DEFAULT_SEPARATOR, joinNames } from '../../shared/mcp/separators.js';
import { tokensOf } from '../../shared/mcp/surface.js';

/** By list: it is counted once, however often the status is asked for. */
const counted = new WeakMap<readonly JsonObject[], number>();

/** What the definitions of a server's tools cost an agent that lists them, under their public names. */
export function toolsTokens(server: string, tools: readonly JsonObject[]): number {
  const known = counted.get(tools);
  if (known !== undefined) return known;
  const publicName = (name: unknown) => joinNames(server, String(name), DEFAULT_SEPARATOR);
  const tokens = tools.reduce((sum, tool) => sum + tokensOf({ ...tool, name: publicName(tool.name) }), 0);
  counted.set(tools, tokens);
  return tokens;
}
