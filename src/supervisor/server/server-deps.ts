import type { AnyActorLogic, AnyActorRef } from 'xstate';
import type { ServerSpec } from '../../config/fields/spec.js';
import type { Clock } from '../../shared/clock.js';
import type { CatalogChange } from '../catalog/catalog-change.js';
import type { CatalogStore } from '../catalog/catalog-store.js';
import type { Peers } from '../cluster/peers.js';
import type { EndedCall } from '../events/call-event.js';
import type { Chart } from '../events/journal.js';
import type { MemoryBudget } from '../memory/memory-budget.js';
import type { PinKeeping } from '../pins/pinning.js';
import type { OpenLink } from './link-actor.js';
import type { Permits } from './permits.js';

/** What a configured server needs from the herd. */
export interface ServerDeps {
  /** Its key in the herd; default: its name. */
  key?: string | undefined;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  permits: Permits;
  open: OpenLink;
  /** Puts an actor under the herd's root, under an id that was never used before. */
  keep(id: string, chart: Chart, logic: AnyActorLogic, input: unknown): AnyActorRef;
  /** Removes an actor that has ended. */
  release(id: string): void;
  log(text: string): void;
  /** Absent where memory is not watched. */
  budget?: Pick<MemoryBudget, 'watch'> | undefined;
  /** Absent where lists are not kept on disk. */
  catalogs?: CatalogStore | undefined;
  /** Absent where tools are not pinned. */
  pins?: PinKeeping | undefined;
  /** The nodes of the cluster that have the server, too. Absent, or undefined: it has no replicas on other nodes. */
  peersOf?: ((spec: ServerSpec) => Peers | undefined) | undefined;
  /** Nothing of it may run here, and other nodes have become able to serve it, or are not any more; `why` says which. */
  nodesChanged?: ((why: string) => void) | undefined;
  /** One of its lists has changed. */
  catalogChanged?: ((change: CatalogChange) => void) | undefined;
  /** A request to it has its outcome. */
  called?: ((call: EndedCall) => void) | undefined;
}
