import { join } from 'node:path';
import { configFolder } from './app-folders.js';
import type { Client } from './client.js';
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

/** Read in opencode.ai/docs, "MCP servers" and "Config". */
export const opencode: Client = {
  name: 'opencode',
  title: 'opencode',
  format: 'json',
  user: (machine) =>
    ['opencode.json', 'opencode.jsonc'].map((file) => join(configFolder(machine), 'opencode', file)),
  project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
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
};
