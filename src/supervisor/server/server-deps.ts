import type { AnyActorLogic, AnyActorRef } from 'xstate';
import type { Clock } from '../../shared/clock.js';
import type { CatalogChange } from '../catalog/catalog-change.js';
import type { CatalogStore } from '../catalog/catalog-store.js';
import type { EndedCall } from '../events/call-event.js';
import type { Chart } from '../events/journal.js';
import type { MemoryBudget } from '../memory/memory-budget.js';
import type { PinKeeping } from '../pins/pinning.js';
import type { OpenLink } from './link-actor.js';
import type { Permits } from './permits.js';

/** What a server of a herd is given from outside. */
export interface ServerDeps {
  /** Its place in the herd; default: its name. */
  key?: string | undefined;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  permits: Permits;
  open: OpenLink;
  /** Puts an actor under the herd's root, under an id that was never used before. */
  keep(id: string, chart: Chart, logic: AnyActorLogic, input: unknown): AnyActorRef;
  /** Takes one away that has come to its end. */
  release(id: string): void;
  log(text: string): void;
  /** Absent where nobody looks after memory. */
  budget?: Pick<MemoryBudget, 'watch'> | undefined;
  /** Absent where nothing is remembered from one life to the next. */
  catalogs?: CatalogStore | undefined;
  /** Absent where what tools are is not compared with what they were. */
  pins?: PinKeeping | undefined;
  /** What it offers is not what it was. */
  catalogChanged?: ((change: CatalogChange) => void) | undefined;
  /** A request to it has its outcome. */
  called?: ((call: EndedCall) => void) | undefined;
}
