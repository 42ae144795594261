import { join } from 'node:path';
import { applicationFolder } from './app-folders.js';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS } from './fields.js';
import { noReferences } from './references.js';

/** Read in modelcontextprotocol.io, "Connect to local MCP servers". */
export const claudeDesktop: Client = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  user: (machine) => [join(applicationFolder(machine), 'Claude', 'claude_desktop_config.json')],
  project: [],
  keys: ['mcpServers'],
  fields: COMMON_FIELDS,
  references: noReferences,
  next: { user: 'quit Claude Desktop and start it again' },
  toClientEntry: commonEntry,
};
