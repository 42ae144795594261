/**
 * The root of the herd's actors: its children are the keepers and, of transient servers, the machine and each
 * incarnation. One-for-one: servers are independent, so what happens to one child affects no other.
 *
 * | event | meaning |
 * |---|---|
 * | `keep` | a child begins its life here, under an id that was never used before |
 * | `release` | a child has ended and is removed; a live one is never released |
 * | `xstate.error.actor.*` | a child broke: it is reported, and the others go on |
 *
 * A child that broke would break its parent too, and at the root that ends the process: hence the last line.
 */
import {
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  createMachine,
  emit,
  enqueueActions,
  type InspectionEvent,
  stopChild,
} from 'xstate';
import type { Clock } from '../../shared/clock.js';
import type { ActorOwners, Chart } from '../events/journal.js';
import { actorClock } from '../server/shared-machines.js';

export type RootEvent =
  | { type: 'keep'; id: string; logic: AnyActorLogic; input: unknown }
  | { type: 'release'; id: string }
  | { type: `xstate.error.actor.${string}`; error: unknown; actorId: string };

export type RootReport = { type: 'child.broke'; id: string; error: unknown };

export const rootMachine = createMachine({
  id: 'herd',
  types: {} as { events: RootEvent; emitted: RootReport },
  on: {
    keep: {
      actions: enqueueActions(({ event: { id, logic, input }, enqueue }) => {
        enqueue.spawnChild(logic, { id, input });
      }),
    },
    release: { actions: stopChild(({ event }) => event.id) },
    'xstate.error.actor.*': {
      actions: emit(({ event }) => ({ type: 'child.broke', id: event.actorId, error: event.error })),
    },
  },
});

export interface RootOptions {
  clock: Clock;
  owners: ActorOwners;
  inspect(inspection: InspectionEvent): void;
  /** A child threw: a bug of ours. `key`: the server it belongs to. */
  broke(key: string, error: unknown): void;
}

/** Starts the root actor, under which all keepers and transient servers live. */
export function startRoot({ clock, owners, inspect, broke }: RootOptions) {
  const root = createActor(rootMachine, { clock: actorClock(clock), inspect });
  root.on('child.broke', ({ id, error }) => broke(owners.get(id)?.key ?? id, error));
  root.start();
  return {
    keep(key: string, id: string, chart: Chart, logic: AnyActorLogic, input: unknown): AnyActorRef {
      owners.set(id, { key, chart });
      root.send({ type: 'keep', id, logic, input });
      return root.getSnapshot().children[id]!;
    },
    release(id: string): void {
      root.send({ type: 'release', id });
      owners.delete(id);
    },
  };
}
