import * as modern from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { COMMAND } from '../../../support/command.js';
import type { Home } from '../../../support/herd.js';
import { atEnd } from '../../../support/share.js';

export interface Block {
  type: string;
  text?: string;
  [more: string]: unknown;
}

export interface CallResult {
  content: Block[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export interface CallOptions {
  /** `_meta` of the request. */
  meta?: Record<string, unknown>;
  onprogress?: (one: { progress: number }) => void;
  signal?: AbortSignal;
}

/** A published client behind a bridge, in the words that both have in common. */
export interface Agent {
  tools(): Promise<{ name: string; inputSchema: unknown }[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  instructions(): string | undefined;
  /** How often the client was told that the list of tools has changed. */
  changes(): number;
}

const INFO = { name: 'test', version: '1' };
const YES = { action: 'accept' as const, content: { yes: true } };
const THOUGHT = {
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'I think so' },
  model: 'stub',
};
const ROOTS = { roots: [{ uri: 'file:///project', name: 'project' }] };
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };
/** What `meta` adds to the params of a call. */
const withMeta = ({ meta, ...options }: CallOptions = {}) => ({
  extra: meta === undefined ? {} : { _meta: meta },
  options,
});

function bridgeOf({ environment, folder }: Home, flags: readonly string[]) {
  const args = [COMMAND, 'bridge', ...flags];
  return { command: process.execPath, args, env: environment, cwd: folder, stderr: 'pipe' as const };
}

/** MCP 2025-11-25. It answers every question. */
export async function agent2025(home: Home, ...flags: string[]): Promise<Agent> {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, () => YES);
  client.setRequestHandler(CreateMessageRequestSchema, () => THOUGHT);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  let changes = 0;
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method === 'notifications/tools/list_changed') changes += 1;
  };
  await client.connect(new StdioClientTransport(bridgeOf(home, flags)));
  atEnd(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, args = {}, given) => {
      const { extra, options } = withMeta(given);
      const params = { name, arguments: args, ...extra };
      return client.callTool(params, undefined, options) as Promise<CallResult>;
    },
    instructions: () => client.getInstructions(),
    changes: () => changes,
  };
}

/** MCP 2026-07-28. It answers every question. */
export async function agent2026(home: Home, ...flags: string[]): Promise<Agent> {
  let changes = 0;
  const client = new modern.Client(INFO, {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    capabilities: CAPABILITIES,
  });
  client.setRequestHandler('elicitation/create', () => YES);
  client.setRequestHandler('sampling/createMessage', () => THOUGHT);
  client.setRequestHandler('roots/list', () => ROOTS);
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method === 'notifications/tools/list_changed') changes += 1;
  };
  await client.connect(new ModernTransport(bridgeOf(home, flags)));
  atEnd(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, args = {}, given) => {
      const { extra, options } = withMeta(given);
      return client.callTool({ name, arguments: args, ...extra }, options) as Promise<CallResult>;
    },
    instructions: () => client.getInstructions(),
    changes: () => changes,
  };
}

export const AGENTS = [
  ['2025-11-25', agent2025],
  ['2026-07-28', agent2026],
] as const;

export const textOf = ({ content }: CallResult): string => content[0]?.text ?? '';
