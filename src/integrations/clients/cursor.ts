import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, flag } from './fields.js';
import { editorReferences } from './references.js';

/** Read in cursor.com/docs, "Model Context Protocol". */
export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  format: 'json',
  user: ({ home }) => [join(home, '.cursor', 'mcp.json')],
  project: ['.cursor/mcp.json'],
  keys: ['mcpServers'],
  fields: { ...COMMON_FIELDS, disabled: flag('enabled', { inverted: true }) },
  references: editorReferences,
  next: {
    user: 'restart Cursor',
    project: 'open this folder in Cursor and enable toolherd in its settings, under MCP',
  },
  toClientEntry: commonEntry,
};
