import { join } from 'node:path';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, flag } from './fields.js';
import { shellReferences } from './references.js';

/** Read in `auggie mcp add --help` and in the file that it writes (0.36). */
export const auggie: Client = {
  name: 'auggie',
  title: 'Auggie',
  format: 'json',
  user: ({ home }) => [join(home, '.augment', 'settings.json')],
  project: ['.augment/settings.json', '.augment/settings.local.json'],
  keys: ['mcpServers'],
  fields: { ...COMMON_FIELDS, disabled: flag('enabled', { inverted: true }) },
  references: shellReferences,
  toClientEntry: (program) => ({ type: 'stdio', ...commonEntry(program) }),
  next: { user: newSession('Auggie'), project: 'start auggie in this folder' },
};
