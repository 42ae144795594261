import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, flag } from './fields.js';
import { noReferences } from './references.js';

/** Read in jetbrains.com/help/junie, "Model Context Protocol", and in repositories that have the file of a project. */
export const junie: Client = {
  name: 'junie',
  title: 'Junie',
  format: 'json',
  user: ({ home }) => [join(home, '.junie', 'mcp', 'mcp.json')],
  project: ['.junie/mcp/mcp.json'],
  keys: ['mcpServers'],
  fields: { ...COMMON_FIELDS, enabled: flag('enabled'), disabled: flag('enabled', { inverted: true }) },
  references: noReferences,
  toClientEntry: commonEntry,
  next: {
    user: 'restart the IDE, or start a new session of the Junie CLI',
    project: 'open this folder in the IDE, or start junie in it',
  },
};
