import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS } from './fields.js';
import { noReferences } from './references.js';

/** Read in lmstudio.ai/docs, "Use MCP servers": it follows the notation of Cursor. */
export const lmStudio: Client = {
  name: 'lm-studio',
  title: 'LM Studio',
  format: 'json',
  // Installations that began before 0.3.6 keep their folder in the cache.
  user: ({ home }) =>
    ['.lmstudio', join('.cache', 'lm-studio')].map((folder) => join(home, folder, 'mcp.json')),
  project: [],
  keys: ['mcpServers'],
  fields: COMMON_FIELDS,
  references: noReferences,
  toClientEntry: commonEntry,
  next: { user: 'in LM Studio turn on toolherd in the Program tab of a chat' },
};
