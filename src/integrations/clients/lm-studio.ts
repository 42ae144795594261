import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS } from './fields.js';
import { noReferences } from './references.js';

/** Read in lmstudio.ai, "Use MCP Servers": it follows the notation of Cursor. */
export const lmStudio: Client = {
  name: 'lm-studio',
  title: 'LM Studio',
  format: 'json',
  // Some installations have the second folder only (issue 1371 of its bug tracker).
  user: ({ home }) =>
    ['.lmstudio', join('.cache', 'lm-studio')].map((folder) => join(home, folder, 'mcp.json')),
  project: [],
  keys: ['mcpServers'],
  fields: COMMON_FIELDS,
  references: noReferences,
  toClientEntry: commonEntry,
  next: { user: 'restart LM Studio' },
};
