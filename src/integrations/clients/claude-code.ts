import { join } from 'node:path';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, MILLISECOND, seconds } from './fields.js';
import { shellReferences } from './references.js';

/** Read in code.claude.com/docs, "Connect Claude Code to tools via MCP". */
export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  user: ({ home, environment }) => [join(environment.CLAUDE_CONFIG_DIR || home, '.claude.json')],
  project: ['.mcp.json'],
  keys: ['mcpServers'],
  keysOfProject: (folder) => ['projects', folder, 'mcpServers'],
  fields: { ...COMMON_FIELDS, timeout: seconds('request_timeout', { unit: MILLISECOND, whole: true }) },
  references: shellReferences,
  next: {
    user: newSession('Claude Code'),
    project: 'start claude in this folder and approve the server toolherd',
  },
  toClientEntry: (program) => ({ type: 'stdio', ...commonEntry(program) }),
};
