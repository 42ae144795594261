import type { ServerSpec } from '../../config/schema/spec.js';
import type { Pinning } from '../pins/pinning.js';
import type { ServerDeps } from '../server/server-deps.js';
import { identityOf } from '../spec-identity.js';
import { Catalog } from './catalog.js';
import { isWanted, LIST_KEYS } from './lists.js';
import { toolFilter } from './tool-filter.js';

/** The catalog of one configured server, with what its surroundings remember of it. */
export function createCatalog(
  spec: ServerSpec,
  { clock, log, catalogs, catalogChanged }: ServerDeps,
  reread: () => void,
  pinning?: Pinning,
): Catalog {
  const identity = catalogs && identityOf(spec);
  const store = identity === undefined ? undefined : catalogs;
  return new Catalog({
    wanted: LIST_KEYS.filter((list) => isWanted(spec, list)),
    reread,
    isVisible: toolFilter(spec.tools),
    clock,
    log,
    checkPins: pinning && ((...tools) => pinning.checkPins(...tools)),
    recall: store && (() => store.load(identity!)),
    keep: store && ((lists) => store.save(identity!, lists)),
    changed: (change) => catalogChanged?.(change),
  });
}
