import { join } from 'node:path';
import { type Client, usualSpelling } from './client.js';
import { USUAL } from './fields.js';
import { editorReferences } from './references.js';

/** Read in cursor.com/docs, "Model Context Protocol". */
export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  format: 'json',
  user: ({ home }) => [join(home, '.cursor', 'mcp.json')],
  project: ['.cursor/mcp.json'],
  keys: ['mcpServers'],
  fields: USUAL,
  references: editorReferences,
  spell: usualSpelling,
};
