import { join } from 'node:path';
import { isVariableName } from '../../config/variables/names.js';
import { configFolder } from './app-folders.js';
import { type Client, newSession } from './client.js';
import { add, type Field, flag, ignored, pairs, seconds, text, texts, tools, transport } from './fields.js';
import { shellReferences } from './references.js';

const TRANSPORTS: Readonly<Record<string, string>> = { streamable_http: 'http' };

const type: Field = (entry, value, translate) =>
  transport(entry, TRANSPORTS[String(value)] ?? value, translate);

/** The names of variables whose values are in the keyring of the system. */
const keptVariables: Field = (entry, value) => {
  if (!Array.isArray(value) || !value.every(isVariableName)) return false;
  add(entry, 'env', Object.fromEntries(value.map((name) => [name, `\${${name}}`])));
  return true;
};

/** Read in block.github.io/goose, "Configuration Overview", and in what `goose info -v` shows of the file (1.34). */
export const goose: Client = {
  name: 'goose',
  title: 'goose',
  format: 'yaml',
  user: (machine) => [
    machine.environment.GOOSE_PATH_ROOT
      ? join(machine.environment.GOOSE_PATH_ROOT, 'config', 'config.yaml')
      : join(configFolder(machine), 'goose', 'config.yaml'),
  ],
  project: [],
  keys: ['extensions'],
  fields: {
    type,
    cmd: text('command'),
    args: texts('args'),
    envs: pairs('env'),
    env_keys: keptVariables,
    uri: text('url'),
    headers: pairs('headers'),
    timeout: seconds('request_timeout', { whole: true }),
    enabled: flag('enabled'),
    available_tools: tools('allow'),
    name: ignored,
    display_name: ignored,
    bundled: ignored,
    description: ignored,
  },
  placeOf: (place) => place.replace(/^env\./, 'envs.'),
  references: shellReferences,
  toClientEntry: ({ command, args, env }) => ({
    enabled: true,
    type: 'stdio',
    name: 'toolherd',
    description: 'the MCP servers of toolherd',
    cmd: command,
    args,
    envs: env,
    timeout: 300,
  }),
  next: { user: newSession('goose') },
};
