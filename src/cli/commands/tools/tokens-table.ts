import { toolTokens } from '../../../fleet/definitions.js';
import type { ToolEntry } from '../../../fleet/fleet.js';
import { table } from '../../ui/table.js';

/** What the definitions of tools cost an agent that lists them, the dearest first. */
export interface TokenReport {
  total: number;
  servers: { server: string; tools: number; tokens: number }[];
  tools: { server: string; name: string; tokens: number }[];
}

const dearestFirst = (one: { tokens: number }, other: { tokens: number }) => other.tokens - one.tokens;

export function tokenReport(entries: readonly ToolEntry[]): TokenReport {
  const listed = entries.filter(({ blocked }) => blocked === undefined);
  const tools = listed.map((tool) => ({ server: tool.server, name: tool.name, tokens: toolTokens(tool) }));
  const servers = [...new Set(tools.map(({ server }) => server))].map((server) => {
    const own = tools.filter((tool) => tool.server === server);
    return { server, tools: own.length, tokens: sum(own) };
  });
  return { total: sum(tools), servers: servers.sort(dearestFirst), tools: tools.sort(dearestFirst) };
}

export function tokenTable({ total, servers, tools }: TokenReport, columns: number | undefined): string {
  const rows = servers.flatMap(({ server, tokens, tools: count }) => [
    [String(tokens), `${server}: ${count} ${count === 1 ? 'tool' : 'tools'}`],
    ...tools
      .filter((tool) => tool.server === server)
      .map(({ name, tokens: cost }) => [String(cost), `${server}.${name}`]),
  ]);
  return table(['TOKENS', 'TOOL'], [...rows, [String(total), 'all']], columns);
}

function sum(all: readonly { tokens: number }[]): number {
  return all.reduce((total, { tokens }) => total + tokens, 0);
}
