import { isObject, type JsonObject } from '../shared/json.js';

/** The commands of a package, by name. */
export type Bins = Readonly<Record<string, string>>;

export function binsOf({ bin, name }: JsonObject): Bins {
  if (typeof bin === 'string') return typeof name === 'string' ? { [unscoped(name)]: bin } : {};
  if (!isObject(bin)) return {};
  const bins = Object.entries(bin).filter((one): one is [string, string] => typeof one[1] === 'string');
  return Object.fromEntries(bins);
}

/** The command that npx runs of a package (libnpmexec/lib/get-bin-from-manifest.js); undefined: it refuses to choose. */
export function chooseBin(name: string, bins: Bins): string | undefined {
  if (new Set(Object.values(bins)).size === 1) return Object.keys(bins)[0];
  const own = unscoped(name);
  return Object.hasOwn(bins, own) ? own : undefined;
}

function unscoped(name: string): string {
  return name.replace(/^@[^/]+\//, '');
}
