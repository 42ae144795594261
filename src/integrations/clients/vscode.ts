import { join } from 'node:path';
import { applicationFolder } from './app-folders.js';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS } from './fields.js';
import { editorReferences } from './references.js';

/** Read in code.visualstudio.com/docs, "MCP configuration reference". */
export const vscode: Client = {
  name: 'vscode',
  title: 'VS Code',
  format: 'json',
  user: (machine) =>
    ['Code', 'Code - Insiders', 'VSCodium'].map((product) =>
      join(applicationFolder(machine), product, 'User', 'mcp.json'),
    ),
  project: ['.vscode/mcp.json'],
  keys: ['servers'],
  fields: COMMON_FIELDS,
  references: editorReferences,
  asks: { project: 'VS Code asks whether you trust the server when it first starts it' },
  toClientEntry: (program) => ({ type: 'stdio', ...commonEntry(program) }),
};
