import type { AgentFiles } from '../server/fleet-provider.js';

/** What of the herd a client of MCP sees: all of it or one server, through an agent's eyes or the user's. */
export interface Scope {
  server: string | undefined;
  agent: string | undefined;
  /** Which agent files may be named where the request came in. */
  agentFiles: AgentFiles;
}

export type Route = { kind: 'mcp'; place: Scope } | { kind: 'health' } | { kind: 'metrics' };

const ONE_SERVER = /^\/s\/([^/]+)\/mcp$/;

/** Undefined where there is nothing. */
export function routeOf(target: string, agentFiles: AgentFiles): Route | undefined {
  const [path = '', query = ''] = target.split('?', 2);
  if (path === '/health') return { kind: 'health' };
  if (path === '/metrics') return { kind: 'metrics' };
  const agent = new URLSearchParams(query).get('agent') || undefined;
  if (path === '/mcp') return { kind: 'mcp', place: { server: undefined, agent, agentFiles } };
  const name = ONE_SERVER.exec(path)?.[1];
  const server = name === undefined ? undefined : decode(name);
  return server === undefined ? undefined : { kind: 'mcp', place: { server, agent, agentFiles } };
}

export function isSameScope(one: Scope, other: Scope): boolean {
  const { server, agent, agentFiles } = one;
  return server === other.server && agent === other.agent && agentFiles === other.agentFiles;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
