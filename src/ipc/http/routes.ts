import type { AgentFiles } from '../server/fleet-provider.js';

/** The part of the herd that an MCP client sees: all servers, a profile or one server, in the global view or that of an agent's file. */
export interface Scope {
  server: string | undefined;
  profile: string | undefined;
  agent: string | undefined;
  /** Of public names; default: that of the config. */
  separator: string | undefined;
  /** Whether tools are listed or searched; default: that of the config. */
  surface: string | undefined;
  /** Which agent files the client may name. */
  agentFiles: AgentFiles;
}

export type Route = { kind: 'mcp'; scope: Scope } | { kind: 'health' } | { kind: 'metrics' };

const PATH = /^(?:\/p\/([^/]+))?(?:\/s\/([^/]+))?\/mcp$/;

/** Undefined for an unknown path. */
export function routeOf(target: string, agentFiles: AgentFiles): Route | undefined {
  const [path = '', query = ''] = target.split('?', 2);
  if (path === '/health') return { kind: 'health' };
  if (path === '/metrics') return { kind: 'metrics' };
  const asked = new URLSearchParams(query);
  const of = {
    agent: asked.get('agent') || undefined,
    separator: asked.get('separator') || undefined,
    surface: asked.get('surface') || undefined,
  };
  const parts = PATH.exec(path);
  if (parts === null) return undefined;
  const [profile, server] = parts.slice(1).map((part) => part && decode(part));
  return profile === UNREADABLE || server === UNREADABLE
    ? undefined
    : { kind: 'mcp', scope: { server, profile, ...of, agentFiles } };
}

export function isSameScope(one: Scope, other: Scope): boolean {
  const keys = ['server', 'profile', 'agent', 'separator', 'surface', 'agentFiles'] as const;
  return keys.every((key) => one[key] === other[key]);
}

/** No part of a path is empty. */
const UNREADABLE = '';

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return UNREADABLE;
  }
}
