import { join } from 'node:path';
import { applicationFolder } from './app-folders.js';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, flag, seconds, text } from './fields.js';
import { editorReferences } from './references.js';

const FILE = join('settings', 'cline_mcp_settings.json');

/** Read in docs.cline.bot, "Adding and configuring servers" and "MCP overview". */
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
    const usual = [join(storage, FILE), join(home, '.cline', 'data', FILE)];
    return environment.CLINE_MCP_SETTINGS_PATH ? [environment.CLINE_MCP_SETTINGS_PATH] : usual;
  },
  project: [],
  keys: ['mcpServers'],
  fields: {
    ...COMMON_FIELDS,
    transportType: COMMON_FIELDS.type!,
    description: text('description'),
    disabled: flag('enabled', { inverted: true }),
    timeout: seconds('request_timeout', { whole: true }),
  },
  references: editorReferences,
  toClientEntry: commonEntry,
};
