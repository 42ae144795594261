import { RegistryRefusedError } from './errors.js';
import { isOffer, type Offer, type Refused } from './install-option.js';
import { packageOffer } from './package-option.js';
import { remoteOffer } from './remote-option.js';
import { type RegistryServer, shortNameOf } from './server.js';

/** Every way to run or reach a server, and every one that is not to be gone, in the publisher's order. */
export function offersOf(server: RegistryServer, name = shortNameOf(server.name)): (Offer | Refused)[] {
  return [...server.packages.map(packageOffer), ...server.remotes.map((remote) => remoteOffer(remote, name))];
}

const PREFERENCE: readonly Offer['transport'][] = ['stdio', 'http', 'sse'];

/** A package before a remote, http before sse; the publisher's order among equals. Throws a RegistryRefusedError. */
export function chooseOffer(
  server: RegistryServer,
  name: string,
  transport: Offer['transport'] | undefined,
): Offer {
  if (server.status === 'deleted') {
    throw new RegistryRefusedError(`'${server.name}' was deleted from the registry`, {
      why: server.statusMessage ?? 'whoever published it, or the registry, took it back',
      fix: 'look for another: toolherd search',
    });
  }
  const all = offersOf(server, name);
  const offers = all.filter(isOffer);
  const wanted = transport === undefined ? PREFERENCE : [transport];
  const [chosen] = wanted.flatMap((one) => offers.filter((offer) => offer.transport === one));
  if (chosen !== undefined) return chosen;
  throw nothingFits(server, all, transport);
}

function nothingFits(
  { name }: RegistryServer,
  all: readonly (Offer | Refused)[],
  transport: string | undefined,
): RegistryRefusedError {
  const offers = all.filter(isOffer).map((offer) => offer.transport);
  if (transport !== undefined && offers.length > 0) {
    const there = [...new Set(offers)];
    return new RegistryRefusedError(`'${name}' cannot be had over ${transport}`, {
      why: `it offers ${there.join(', ')}`,
      fix: `use --transport ${there[0]}, or leave --transport out`,
    });
  }
  const reasons = all.flatMap((one) =>
    isOffer(one) ? [] : [[one.kind, one.server, `(${one.refused})`].filter((part) => part !== '').join(' ')],
  );
  return new RegistryRefusedError(`'${name}' cannot be added`, {
    why: reasons.length === 0 ? 'it has neither packages nor remotes' : reasons.join('; '),
    fix: 'see its own page for another way, then: toolherd add NAME -- COMMAND ARGS…, or --url URL',
  });
}
