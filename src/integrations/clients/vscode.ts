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
  next: {
    user: 'in VS Code run "MCP: List Servers", start toolherd and trust it',
    project: 'open this folder in VS Code, trust it, then run "MCP: List Servers" and start toolherd',
  },
  toClientEntry: (program) => ({ type: 'stdio', ...commonEntry(program) }),
};
