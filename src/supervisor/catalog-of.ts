import type { ServerSpec } from '../config/spec.js';
import { Catalog } from './catalog.js';
import type { Lists } from './lists.js';
import type { Pinning } from './pins/pinning.js';
import { identityOf } from './spec-view.js';
import type { Surroundings } from './surroundings.js';
import { toolFilter } from './tool-filter.js';

/** The catalog of one configured server, with what its surroundings remember of it. */
export function catalogOf(
  spec: ServerSpec,
  { clock, log, catalogs, offersChanged }: Surroundings,
  pinning?: Pinning,
): Catalog {
  const identity = catalogs && identityOf(spec);
  const store = identity === undefined ? undefined : catalogs;
  return new Catalog({
    isVisible: toolFilter(spec.tools),
    clock,
    log,
    vet: pinning && ((...tools) => pinning.vet(...tools)),
    recall: store && (() => wholeOnly(spec, store.load(identity!))),
    keep: store && ((lists) => wholeOnly(spec, lists) && store.save(identity!, lists)),
    changed: (change) => offersChanged?.(change),
  });
}

/** A list that could not be read once must not be taken for an empty one ever after. */
function wholeOnly(spec: ServerSpec, lists: Lists | undefined): Lists | undefined {
  if (lists === undefined) return undefined;
  const isTold = (list: unknown, isWanted = true) => list !== undefined || !isWanted;
  const { tools, prompts, resources, templates } = lists;
  const isWhole = isTold(tools, spec.loadTools) && isTold(prompts, spec.loadPrompts);
  return isWhole && isTold(resources) && isTold(templates) ? lists : undefined;
}
