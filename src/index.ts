import { loadConfig as load } from './config/load.js';
import type { LoadedHerd, LoadOptions } from './config/loaded.js';
import type { FleetHandle } from './library/api.js';
import { fleetError } from './library/fleet-error.js';
import type { OpenOptions } from './library/open-fleet.js';

/** What scripts import: the herd of the daemon, a herd in this process, and the configuration read as the daemon reads it. */
export * from './client.js';
export type * from './config/fields/spec.js';
export type { LoadedHerd as Loaded, LoadOptions } from './config/loaded.js';
export { formatProblem, type Problem } from './config/parse/problem.js';
export type { OpenOptions } from './library/open-fleet.js';
export { Redactor } from './shared/secrets/redactor.js';
export { VERSION } from './shared/version.js';

/** Its type names no package, so that the declarations need none installed. */
export const loadConfig: (options: LoadOptions) => Promise<LoadedHerd> = load;

/** Runs the herd in this process. What that takes is loaded now: who only connects need not. */
export async function openFleet(options?: OpenOptions): Promise<FleetHandle> {
  const library = await import('./library/open-fleet.js');
  return library.openFleet(options).catch((error: unknown) => {
    throw fleetError(error);
  });
}
