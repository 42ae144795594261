import type { AnyActorLogic, AnyActorRef } from 'xstate';
import type { Clock } from '../link/clock.js';
import type { CatalogChange } from './catalog-change.js';
import type { CatalogStore } from './catalog-store.js';
import type { OpenLink } from './link-actor.js';
import type { Permits } from './permits.js';

/** What every server of a herd is given from outside. */
export interface Surroundings {
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  permits: Permits;
  open: OpenLink;
  /** Puts an actor under the herd's root, under an id that was never used before. */
  keep(id: string, logic: AnyActorLogic, input: unknown): AnyActorRef;
  /** Takes one away that has come to its end. */
  release(id: string): void;
  log(server: string, text: string): void;
  /** Absent where nothing is remembered from one life to the next. */
  catalogs?: CatalogStore | undefined;
  /** What a server offers is not what it was. */
  offersChanged?: ((server: string, change: CatalogChange) => void) | undefined;
}
