import { RegistryRefusedError } from './errors.js';
import { type InstallOption, isInstallable, type UnsupportedOption } from './install-option.js';
import { packageOption } from './package-option.js';
import { remoteOption } from './remote-option.js';
import { type RegistryServer, shortNameOf } from './server.js';

/** Every way to run or reach a server, the unsupported ones included, in the publisher's order. */
export function installOptions(
  server: RegistryServer,
  name = shortNameOf(server.name),
): (InstallOption | UnsupportedOption)[] {
  return [
    ...server.packages.map(packageOption),
    ...server.remotes.map((remote) => remoteOption(remote, name)),
  ];
}

const PREFERENCE: readonly InstallOption['transport'][] = ['stdio', 'http', 'sse'];

/** Prefers a package to a remote, and http to sse; otherwise the publisher's order. Throws a RegistryRefusedError. */
export function chooseOption(
  server: RegistryServer,
  name: string,
  transport: InstallOption['transport'] | undefined,
): InstallOption {
  if (server.status === 'deleted') {
    throw new RegistryRefusedError(`'${server.name}' was deleted from the registry`, {
      why: server.statusMessage ?? 'its publisher or the registry withdrew it',
      fix: 'find another server: toolherd search',
    });
  }
  const all = installOptions(server, name);
  const options = all.filter(isInstallable);
  const wanted = transport === undefined ? PREFERENCE : [transport];
  const [chosen] = wanted.flatMap((one) => options.filter((option) => option.transport === one));
  if (chosen !== undefined) return chosen;
  throw nothingFits(server, all, transport);
}

function nothingFits(
  { name }: RegistryServer,
  all: readonly (InstallOption | UnsupportedOption)[],
  transport: string | undefined,
): RegistryRefusedError {
  const options = all.filter(isInstallable).map((option) => option.transport);
  if (transport !== undefined && options.length > 0) {
    const available = [...new Set(options)];
    return new RegistryRefusedError(`'${name}' is not available over ${transport}`, {
      why: `it offers ${available.join(', ')}`,
      fix: `use --transport ${available[0]}, or leave --transport out`,
    });
  }
  const reasons = all.flatMap((one) =>
    isInstallable(one)
      ? []
      : [[one.kind, one.server, `(${one.refused})`].filter((part) => part !== '').join(' ')],
  );
  return new RegistryRefusedError(`'${name}' cannot be added`, {
    why: reasons.length === 0 ? 'it has neither packages nor remotes' : reasons.join('; '),
    fix: 'see its website for another way, then: toolherd add NAME -- COMMAND ARGS…, or --url URL',
  });
}

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
