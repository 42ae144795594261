import type { InstallOption } from './install-option.js';
import type { RegistryServer } from './server.js';

/** The entry for a server, its fields in the usual order. `env` holds the values that the user gave. */
export function entryOf(
  server: RegistryServer,
  option: InstallOption,
  name: string,
  env: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const { command, args, url, headers } = option.fields;
  const environment = { ...option.fields.env, ...env };
  return {
    name,
    description: oneLine(server.description) || oneLine(server.title ?? '') || server.name,
    server: option.server,
    transport: option.transport,
    command,
    args,
    url,
    headers,
    env: Object.keys(environment).length === 0 ? undefined : environment,
    registry_name: server.name,
  };
}

const MAX_CHARACTERS = 200;

/** Text from the registry becomes one short line in the user's file. */
function oneLine(text: string): string {
  const characters = [...text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()];
  return characters.length <= MAX_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MAX_CHARACTERS).join('')}…`;
}
