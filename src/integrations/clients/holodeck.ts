import { join } from 'node:path';
import { FIELDS } from '../../config/fields/entry-fields.js';
import type { Client } from './client.js';
import { COMMON_FIELDS, envFile, type Field, type Fields, ignored } from './fields.js';
import { shellReferences } from './references.js';

/** HoloDeck's entries have the same fields as ours. */
const copied =
  (name: string): Field =>
  (entry, value) => {
    entry[name] = value;
    return true;
  };

const copiedFields = Object.keys(FIELDS).map((name): [string, Field] => [
  name,
  COMMON_FIELDS[name] ?? copied(name),
]);

/** HoloDeck's global config, from its specification of the registry commands. */
export const holodeck: Client = {
  name: 'holodeck',
  title: 'HoloDeck',
  format: 'yaml',
  user: ({ home }) => [join(home, '.holodeck', 'config.yaml')],
  project: [],
  pathsStartAtFile: true,
  keys: ['mcp_servers'],
  listed: true,
  fields: {
    ...Object.fromEntries(copiedFields),
    env_file: envFile,
    type: ignored,
    name: ignored,
  } satisfies Fields,
  references: shellReferences,
  next: { user: 'run holodeck again' },
  // HoloDeck runs npx, uvx and docker only.
  toClientEntry: undefined,
};
