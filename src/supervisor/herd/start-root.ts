import { type AnyActorLogic, type AnyActorRef, createActor, type InspectionEvent } from 'xstate';
import type { Clock } from '../../shared/clock.js';
import type { ActorOwners, Chart } from '../events/journal.js';
import { actorClock } from '../server/shared-machines.js';
import { rootMachine } from './root.js';

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
      return root.getSnapshot().context.children.get(id)!;
    },
    release(id: string): void {
      root.send({ type: 'release', id });
      owners.delete(id);
    },
  };
}
