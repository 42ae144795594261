import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, flag, text, tools } from './fields.js';
import { editorReferences } from './references.js';

/** Read in docs.windsurf.com, "Model Context Protocol"; Devin Desktop, as it is called now, kept the file. */
export const windsurf: Client = {
  name: 'windsurf',
  title: 'Windsurf',
  format: 'json',
  user: ({ home }) => [join(home, '.codeium', 'windsurf', 'mcp_config.json')],
  project: [],
  keys: ['mcpServers'],
  fields: {
    ...COMMON_FIELDS,
    serverUrl: text('url'),
    disabled: flag('enabled', { inverted: true }),
    disabledTools: tools('deny'),
  },
  references: editorReferences,
  next: { user: 'restart Windsurf' },
  toClientEntry: commonEntry,
};
