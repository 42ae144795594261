import { join } from 'node:path';
import { isMap } from '../../config/parse/document.js';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, type Field, ignored, MILLISECOND, pairs, seconds } from './fields.js';
import { templateReferences } from './references.js';

/** Only the headers have an equivalent here. */
const requestOptions: Field = (entry, value, translate) =>
  isMap(value) &&
  Object.keys(value).every((name) => name === 'headers') &&
  pairs('headers')(entry, value.headers ?? {}, translate);

/** Read in the schema inside the CLI 1.5, which checks the file. */
export const continueDev: Client = {
  name: 'continue',
  title: 'Continue',
  format: 'yaml',
  user: ({ home, environment }) => [
    join(environment.CONTINUE_GLOBAL_DIR || join(home, '.continue'), 'config.yaml'),
  ],
  project: [],
  keys: ['mcpServers'],
  listed: true,
  fields: {
    ...COMMON_FIELDS,
    name: ignored,
    requestOptions,
    connectionTimeout: seconds('start_timeout', { unit: MILLISECOND }),
  },
  placeOf: (place) => place.replace(/^headers\./, 'requestOptions.headers.'),
  references: templateReferences,
  toClientEntry: (program) => ({ name: 'toolherd', ...commonEntry(program) }),
  // It refuses a file without these.
  newFile: 'name: Local Config\nversion: 1.0.0\nschema: v1\n',
  next: { user: `reload the window of the IDE, or ${newSession('cn')}` },
};
