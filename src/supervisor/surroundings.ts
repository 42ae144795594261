import type { AnyActorLogic, AnyActorRef } from 'xstate';
import type { Clock } from '../link/clock.js';
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
}
