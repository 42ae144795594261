import { join } from 'node:path';
import { isMap } from '../../config/parse/document.js';
import { configFolder } from './app-folders.js';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, type Field, flag, ignored, pairs, text, texts } from './fields.js';
import { noReferences } from './references.js';

/** The older form has the whole command in a map. */
const command: Field = (entry, value, translate) => {
  if (!isMap(value)) return text('command')(entry, value, translate);
  const { path, args = [], env = {} } = value;
  return (
    text('command')(entry, path, translate) &&
    texts('args')(entry, args, translate) &&
    pairs('env')(entry, env ?? {}, translate)
  );
};

/** Read in zed.dev/docs, "Model Context Protocol". */
export const zed: Client = {
  name: 'zed',
  title: 'Zed',
  format: 'json',
  user: (machine) => [join(configFolder(machine), 'zed', 'settings.json')],
  project: ['.zed/settings.json'],
  keys: ['context_servers'],
  fields: { ...COMMON_FIELDS, command, enabled: flag('enabled'), source: ignored },
  references: noReferences,
  next: {
    user: 'Zed reads its settings again at once; no restart is needed',
    project: 'open this folder in Zed and trust it',
  },
  toClientEntry: commonEntry,
};
