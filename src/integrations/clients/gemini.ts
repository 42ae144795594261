import { join } from 'node:path';
import { type Client, commonEntry, newSession } from './client.js';
import { COMMON_FIELDS, type Fields, MILLISECOND, seconds, text, tools, urlOf } from './fields.js';
import { bareReferences } from './references.js';

const FIELDS: Fields = {
  // Before `url`, which sets the transport only when `type` has not.
  type: COMMON_FIELDS.type!,
  ...COMMON_FIELDS,
  url: urlOf('sse'),
  httpUrl: urlOf('http'),
  description: text('description'),
  timeout: seconds('request_timeout', { unit: MILLISECOND, whole: true }),
  includeTools: tools('allow'),
  excludeTools: tools('deny'),
};

/** Read in geminicli.com/docs, "MCP servers with Gemini CLI". */
export const gemini: Client = {
  name: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  // Gemini CLI takes this variable for the home folder
  user: ({ home, environment }) => [join(environment.GEMINI_CLI_HOME || home, '.gemini', 'settings.json')],
  project: ['.gemini/settings.json'],
  keys: ['mcpServers'],
  fields: FIELDS,
  references: bareReferences,
  toClientEntry: commonEntry,
  next: {
    user: `${newSession('Gemini CLI')} in a trusted folder: it starts no servers in another`,
    project: 'start gemini in this folder and trust it: it reads no project file before',
  },
};

/** Made from Gemini CLI. Read in the files that `qwen mcp add` writes (0.24). */
export const qwen: Client = {
  name: 'qwen',
  title: 'Qwen Code',
  format: 'json',
  user: ({ home, environment }) => [join(environment.QWEN_HOME || join(home, '.qwen'), 'settings.json')],
  project: ['.qwen/settings.json'],
  keys: ['mcpServers'],
  fields: FIELDS,
  references: bareReferences,
  toClientEntry: commonEntry,
  next: { user: newSession('Qwen Code'), project: 'start qwen in this folder' },
};
