import { join } from 'node:path';
import { isMap } from '../../config/parse/document.js';
import { isVariableName } from '../../config/variables/names.js';
import { type Client, commonEntry } from './client.js';
import {
  add,
  COMMON_FIELDS,
  type Field,
  flag,
  MILLISECOND,
  pairs,
  seconds,
  tools,
  variables,
} from './fields.js';
import { noReferences } from './references.js';

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

/** Read in developers.openai.com/codex, "Model Context Protocol" and "Configuration reference". */
export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  format: 'toml',
  user: ({ home, environment }) => [join(environment.CODEX_HOME || join(home, '.codex'), 'config.toml')],
  project: ['.codex/config.toml'],
  keys: ['mcp_servers'],
  fields: {
    ...COMMON_FIELDS,
    env_vars: givenVariables,
    http_headers: pairs('headers'),
    env_http_headers: variables('headers'),
    bearer_token_env_var: bearerToken,
    enabled: flag('enabled'),
    startup_timeout_sec: seconds('start_timeout'),
    startup_timeout_ms: seconds('start_timeout', { unit: MILLISECOND }),
    tool_timeout_sec: seconds('request_timeout', { whole: true }),
    enabled_tools: tools('allow'),
    disabled_tools: tools('deny'),
  },
  placeOf: (place) => place.replace(/^headers\./, 'http_headers.'),
  references: noReferences,
  asks: { project: 'Codex reads this file only if you trust the project: it asks when you start it here' },
  toClientEntry: commonEntry,
};
