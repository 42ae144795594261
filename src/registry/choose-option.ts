import { RegistryRefusedError } from './errors.js';
import { type InstallOption, isInstallable, type UnsupportedOption } from './install-option.js';
import { packageOption } from './package-option.js';
import { remoteOption } from './remote-option.js';
import { type RegistryServer, shortNameOf } from './server.js';

/** Every way to run or reach a server, and every one that is not to be gone, in the publisher's order. */
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

/** A package before a remote, http before sse; the publisher's order among equals. Throws a RegistryRefusedError. */
export function chooseOption(
  server: RegistryServer,
  name: string,
  transport: InstallOption['transport'] | undefined,
): InstallOption {
  if (server.status === 'deleted') {
    throw new RegistryRefusedError(`'${server.name}' was deleted from the registry`, {
      why: server.statusMessage ?? 'whoever published it, or the registry, took it back',
      fix: 'look for another: toolherd search',
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
    const there = [...new Set(options)];
    return new RegistryRefusedError(`'${name}' cannot be had over ${transport}`, {
      why: `it offers ${there.join(', ')}`,
      fix: `use --transport ${there[0]}, or leave --transport out`,
    });
  }
  const reasons = all.flatMap((one) =>
    isInstallable(one)
      ? []
      : [[one.kind, one.server, `(${one.refused})`].filter((part) => part !== '').join(' ')],
  );
  return new RegistryRefusedError(`'${name}' cannot be added`, {
    why: reasons.length === 0 ? 'it has neither packages nor remotes' : reasons.join('; '),
    fix: 'see its own page for another way, then: toolherd add NAME -- COMMAND ARGS…, or --url URL',
  });
}
