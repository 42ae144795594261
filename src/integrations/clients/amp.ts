import { join } from 'node:path';
import { configFolder } from './app-folders.js';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, tools } from './fields.js';
import { shellReferences } from './references.js';

/** Read in `amp mcp add --help` and in the file that it writes. */
export const amp: Client = {
  name: 'amp',
  title: 'Amp',
  format: 'json',
  user: (machine) => [join(configFolder(machine), 'amp', 'settings.json')],
  project: ['.amp/settings.json'],
  // one key, with a dot in it
  keys: ['amp.mcpServers'],
  fields: { ...COMMON_FIELDS, includeTools: tools('allow') },
  references: shellReferences,
  toClientEntry: commonEntry,
  next: { user: newSession('Amp'), project: 'in this folder run: amp mcp approve toolherd' },
};
