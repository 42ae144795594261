import { join } from 'node:path';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, flag, tools } from './fields.js';
import { shellReferences } from './references.js';

/** Read in the file that `droid mcp add` writes (0.215). */
export const droid: Client = {
  name: 'droid',
  title: 'Factory droid',
  format: 'json',
  user: ({ home, environment }) => [join(environment.FACTORY_HOME_OVERRIDE || home, '.factory', 'mcp.json')],
  project: ['.factory/mcp.json'],
  keys: ['mcpServers'],
  fields: {
    ...COMMON_FIELDS,
    disabled: flag('enabled', { inverted: true }),
    disabledTools: tools('deny'),
  },
  references: shellReferences,
  toClientEntry: (program) => ({ type: 'stdio', ...commonEntry(program), disabled: false }),
  next: { user: newSession('droid'), project: 'start droid in this folder' },
};
