import { type AnyActorLogic, type AnyActorRef, createActor, type InspectionEvent } from 'xstate';
import type { Clock } from '../../shared/clock.js';
import { rootMachine } from './root.js';

export interface RootOptions {
  clock: Clock;
  inspect(inspection: InspectionEvent): void;
  /** A child threw: a bug of ours. `slot`: whose it was. */
  broke(key: string, error: unknown): void;
}

/** The root actor, running: what lives under it is put there and taken away again. */
export function startRoot({ clock, inspect, broke }: RootOptions) {
  const root = createActor(rootMachine, { clock: timers(clock), inspect });
  root.on('child.broke', ({ id, error }) => broke(keyOf(id), error));
  root.start();
  return {
    keep(id: string, logic: AnyActorLogic, input: unknown): AnyActorRef {
      root.send({ type: 'keep', id, logic, input });
      return root.getSnapshot().context.children.get(id)!;
    },
    release: (id: string): void => root.send({ type: 'release', id }),
  };
}

/** `slot@1#0` and `slot@1.3` are actors of `slot`. */
function keyOf(id: string): string {
  return id.replace(/@\d+[#.]\d+$/, '');
}

/** XState knows timers only; the clock is ours. */
function timers(clock: Clock) {
  return {
    setTimeout: (fire: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fire, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
}
