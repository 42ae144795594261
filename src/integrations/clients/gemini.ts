import { join } from 'node:path';
import { type Client, commonEntry } from './client.js';
import { COMMON_FIELDS, MILLISECOND, seconds, text, tools, urlOf } from './fields.js';
import { bareReferences } from './references.js';

/** Read in geminicli.com/docs, "MCP servers with Gemini CLI". */
export const gemini: Client = {
  name: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  // Gemini CLI takes this variable for the home folder
  user: ({ home, environment }) => [join(environment.GEMINI_CLI_HOME || home, '.gemini', 'settings.json')],
  project: ['.gemini/settings.json'],
  keys: ['mcpServers'],
  fields: {
    // Before `url`, which sets the transport only when `type` has not.
    type: COMMON_FIELDS.type!,
    ...COMMON_FIELDS,
    url: urlOf('sse'),
    httpUrl: urlOf('http'),
    description: text('description'),
    timeout: seconds('request_timeout', { unit: MILLISECOND, whole: true }),
    includeTools: tools('allow'),
    excludeTools: tools('deny'),
  },
  references: bareReferences,
  asks: {
    user: 'Gemini CLI starts servers only in folders that you trust: it asks when you start it there',
    project: 'Gemini CLI starts servers only in folders that you trust: it asks when you start it there',
  },
  toClientEntry: commonEntry,
};
