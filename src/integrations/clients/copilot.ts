import { join } from 'node:path';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, type Field, MILLISECOND, seconds, tools } from './fields.js';
import { shellReferences } from './references.js';

/** `["*"]` is every tool. */
const allowedTools: Field = (entry, value, translate) =>
  (Array.isArray(value) && value.includes('*')) || tools('allow')(entry, value, translate);

/** Read in `copilot mcp --help` and in the file that `copilot mcp add` writes (1.0). */
export const copilot: Client = {
  name: 'copilot',
  title: 'Copilot CLI',
  format: 'json',
  user: ({ home, environment }) => [
    join(environment.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
  ],
  // It reads .mcp.json too, which is listed under Claude Code.
  project: ['.github/mcp.json'],
  keys: ['mcpServers'],
  fields: {
    ...COMMON_FIELDS,
    tools: allowedTools,
    timeout: seconds('request_timeout', { unit: MILLISECOND, whole: true }),
  },
  references: shellReferences,
  toClientEntry: (program) => ({ type: 'local', ...commonEntry(program), tools: ['*'] }),
  next: { user: newSession('Copilot CLI'), project: 'start copilot in this folder and trust it' },
};
