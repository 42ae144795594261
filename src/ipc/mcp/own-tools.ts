import type { JsonObject } from '../../shared/json.js';
import type { OwnToolName } from '../../shared/mcp/surface.js';

/** The tools of toolherd for an agent that searches. They never change, so that the client can cache its prompt. */
export const OWN_TOOLS = [
  {
    name: 'search_tools',
    description:
      'Find tools by what they do. The tools of all connected servers are not listed here: search before you say that something cannot be done. Returns one line a tool: name(arguments): what it does. It searches descriptions of tools, not files, the web or data.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'A few words, e.g. "create github issue"' },
        limit: { type: 'integer', description: 'At most this many, default 10' },
        server: { type: 'string', description: 'Only tools of this server' },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'describe_tools',
    description:
      'Full descriptions and JSON schemas of tools that search_tools found. Use it when the one-line signature is not enough to call them; it runs nothing.',
    inputSchema: {
      type: 'object',
      properties: { names: { type: 'array', items: { type: 'string' }, description: 'At most 20' } },
      required: ['names'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'call_tool',
    description:
      'Call a tool that search_tools found, and get its own result. Not for search_tools, describe_tools or read_result: call those directly.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'As search_tools wrote it' },
        arguments: { type: 'object', description: 'The arguments of that tool', additionalProperties: true },
      },
      required: ['name'],
    },
  },
  {
    name: 'read_result',
    description:
      'Read more of a result of call_tool that was cut. The note at its end has the id. Not for files or resources.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        offset: { type: 'integer', description: 'First character, default 0' },
        limit: { type: 'integer', description: 'Characters, default 20000' },
        pointer: { type: 'string', description: 'JSON pointer to a part, e.g. /items/0' },
        match: { type: 'string', description: 'Only lines with this text, with their numbers' },
      },
      required: ['id'],
    },
    annotations: { readOnlyHint: true },
  },
] as const satisfies readonly (JsonObject & { name: OwnToolName })[];
