import type { InstallOption } from './install-option.js';
import type { RegistryServer } from './server.js';

/** The entry for a server, its fields in the order in which people write them. `env` is what the user gave. */
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

const LONGEST = 200;

/** What a stranger wrote becomes one line of the user's file, and not a long one. */
function oneLine(text: string): string {
  const characters = [...text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()];
  return characters.length <= LONGEST ? characters.join('') : `${characters.slice(0, LONGEST).join('')}…`;
}
