import { join } from 'node:path';
import { configFolder } from './app-folders.js';
import { type Client, newSession } from './client.js';
import { COMMON_FIELDS, type Field, flag, pairs, texts, transport } from './fields.js';
import { bracedReferences } from './references.js';

/** The command and its arguments are one list. */
const command: Field = (entry, value, translate) => {
  if (!Array.isArray(value) || value.length === 0 || !texts('args')(entry, value, translate)) return false;
  const [program, ...args] = entry.args as string[];
  Object.assign(entry, { command: program, args });
  return true;
};

/** `remote` does not say which transport. */
const type: Field = (entry, value, translate) => value === 'remote' || transport(entry, value, translate);

/** What opencode and Kilo share. */
const SHAPE = {
  format: 'json',
  keys: ['mcp'],
  fields: { ...COMMON_FIELDS, type, command, environment: pairs('env'), enabled: flag('enabled') },
  placeOf: (place) =>
    place
      .replace(/^env\./, 'environment.')
      .replace(/^args\[(\d+)\]/, (_, index: string) => `command[${Number(index) + 1}]`),
  references: bracedReferences,
  toClientEntry: ({ command, args, env }) => ({
    type: 'local',
    command: [command, ...args],
    enabled: true,
    ...(Object.keys(env).length === 0 ? {} : { environment: env }),
  }),
} satisfies Partial<Client>;

/** Both add `$schema` to a file without it, which `detach` would take for a change of the user. */
const newFile = (schema: string) => `{\n  "$schema": "${schema}"\n}\n`;

const both = (folder: string, name: string) => [join(folder, `${name}.json`), join(folder, `${name}.jsonc`)];

/** Read in opencode.ai/docs, "MCP servers" and "Config". */
export const opencode: Client = {
  ...SHAPE,
  name: 'opencode',
  title: 'opencode',
  user: (machine) => both(join(configFolder(machine), 'opencode'), 'opencode'),
  project: [...both('', 'opencode'), ...both('.opencode', 'opencode')],
  newFile: newFile('https://opencode.ai/config.json'),
  next: { user: newSession('opencode'), project: 'start opencode in this folder' },
};

/** Made from opencode. Read in the file that `kilo mcp add` writes, and in what `kilo mcp list` finds (7.7). */
export const kilo: Client = {
  ...SHAPE,
  name: 'kilo',
  title: 'Kilo',
  user: (machine) => both(join(configFolder(machine), 'kilo'), 'kilo').toReversed(),
  project: [...both('', 'kilo'), ...both('.kilo', 'kilo')],
  newFile: newFile('https://app.kilo.ai/config.json'),
  next: { user: newSession('Kilo'), project: 'start kilo in this folder' },
};
