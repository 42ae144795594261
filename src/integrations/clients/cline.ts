import { join } from 'node:path';
import { isMap } from '../../config/parse/document.js';
import { applicationFolder } from './app-folders.js';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, type Field, flag, seconds, text } from './fields.js';
import { editorReferences } from './references.js';

const FILE = join('settings', 'cline_mcp_settings.json');

/** Cline 3 writes the fields of the transport into a map: `{"transport": {"type": "stdio", "command": …}}`. */
const transport: Field = (entry, value, translate) =>
  isMap(value) &&
  Object.entries(value).every(([name, inner]) => {
    const read = Object.hasOwn(COMMON_FIELDS, name) ? COMMON_FIELDS[name] : undefined;
    return read?.(entry, inner, translate) === true;
  });

/** Read in docs.cline.bot, "Adding and configuring servers" and "MCP overview", and in the files of the Cline CLI 3. */
export const cline: Client = {
  name: 'cline',
  title: 'Cline',
  format: 'json',
  user(machine) {
    const { home, environment } = machine;
    const storage = join(
      applicationFolder(machine),
      'Code',
      'User',
      'globalStorage',
      'saoudrizwan.claude-dev',
    );
    const data = environment.CLINE_DATA_DIR || join(environment.CLINE_DIR || join(home, '.cline'), 'data');
    // Earlier versions of the extension kept the file in the storage of VS Code.
    const usual = [join(data, FILE), join(storage, FILE)];
    return environment.CLINE_MCP_SETTINGS_PATH ? [environment.CLINE_MCP_SETTINGS_PATH] : usual;
  },
  project: [],
  keys: ['mcpServers'],
  fields: {
    ...COMMON_FIELDS,
    transport,
    transportType: COMMON_FIELDS.type!,
    description: text('description'),
    disabled: flag('enabled', { inverted: true }),
    timeout: seconds('request_timeout', { whole: true }),
  },
  placeOf: (place, { transport }) => (isMap(transport) ? `transport.${place}` : place),
  references: editorReferences,
  toClientEntry: commonEntry,
  next: { user: newSession('Cline') },
};
