import { join } from 'node:path';
import { FIELDS } from '../../config/schema/fields.js';
import type { Client } from './client.js';
import { COMMON_FIELDS, type Field, type Fields, nothing } from './fields.js';
import { shellReferences } from './references.js';

/** Its entries are ours, word for word. */
const same =
  (name: string): Field =>
  (entry, value) => {
    entry[name] = value;
    return true;
  };

/** A file of variables would be looked for in another folder. */
const ELSEWHERE = ['envFile', 'env_file'];

const ours = Object.keys(FIELDS)
  .filter((name) => !ELSEWHERE.includes(name))
  .map((name): [string, Field] => [name, COMMON_FIELDS[name] ?? same(name)]);

/** HoloDeck's own global config, as its specification of the registry commands has it. */
export const holodeck: Client = {
  name: 'holodeck',
  title: 'HoloDeck',
  format: 'yaml',
  user: ({ home }) => [join(home, '.holodeck', 'config.yaml')],
  project: [],
  startsAtFile: true,
  keys: ['mcp_servers'],
  fields: { ...Object.fromEntries(ours), type: nothing, name: nothing } satisfies Fields,
  references: shellReferences,
  // It runs npx, uvx and docker, and nothing else.
  spell: undefined,
};
