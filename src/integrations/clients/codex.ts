import { join } from 'node:path';
import { isMap } from '../../config/parse/document.js';
import { isVariableName } from '../../config/variables/names.js';
import { type Client, commonEntry, newSession } from './client.js';
import {
  add,
  COMMON_FIELDS,
  type Field,
  type Fields,
  flag,
  MILLISECOND,
  pairs,
  seconds,
  tools,
  variables,
} from './fields.js';
import { noReferences, shellReferences } from './references.js';

/** Variables that are passed to the server: a name, or a table with a `name`. */
const givenVariables: Field = (entry, value) => {
  const names = Array.isArray(value) ? value.map((item) => (isMap(item) ? item.name : item)) : [undefined];
  if (!names.every(isVariableName)) return false;
  add(entry, 'env', Object.fromEntries(names.map((name) => [name, `\${${name}}`])));
  return true;
};

const bearerToken: Field = (entry, value) => {
  if (!isVariableName(value)) return false;
  add(entry, 'headers', { Authorization: `Bearer \${${value}}` });
  return true;
};

/** The fields that Codex and grok share. */
const TABLE_FIELDS: Fields = {
  ...COMMON_FIELDS,
  bearer_token_env_var: bearerToken,
  enabled: flag('enabled'),
  startup_timeout_sec: seconds('start_timeout'),
  tool_timeout_sec: seconds('request_timeout', { whole: true }),
};

/** Read in developers.openai.com/codex, "Model Context Protocol" and "Configuration reference". */
export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  format: 'toml',
  user: ({ home, environment }) => [join(environment.CODEX_HOME || join(home, '.codex'), 'config.toml')],
  project: ['.codex/config.toml'],
  keys: ['mcp_servers'],
  fields: {
    ...TABLE_FIELDS,
    env_vars: givenVariables,
    http_headers: pairs('headers'),
    env_http_headers: variables('headers'),
    startup_timeout_ms: seconds('start_timeout', { unit: MILLISECOND }),
    enabled_tools: tools('allow'),
    disabled_tools: tools('deny'),
  },
  placeOf: (place) => place.replace(/^headers\./, 'http_headers.'),
  references: noReferences,
  toClientEntry: commonEntry,
  next: {
    user: newSession('Codex'),
    project: 'start codex in this folder and trust it: Codex ignores the file of an untrusted project',
  },
};

/** Read in the user guide that grok 1.0 puts into ~/.grok/docs, and in the file that `grok mcp add` writes. */
export const grok: Client = {
  name: 'grok',
  title: 'grok',
  format: 'toml',
  user: ({ home, environment }) => [join(environment.GROK_HOME || join(home, '.grok'), 'config.toml')],
  project: ['.grok/config.toml'],
  keys: ['mcp_servers'],
  fields: TABLE_FIELDS,
  references: shellReferences,
  toClientEntry: commonEntry,
  // grok joins its own names by `__` and refuses every tool whose name has it.
  separator: '_',
  next: { user: newSession('grok'), project: 'start grok in this folder and trust it' },
};
