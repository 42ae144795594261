import { type EventObject, fromCallback } from 'xstate';
import type { PermitInput, PermitLogic, PermitReport } from '../machines/permit.js';

/**
 * How many servers may start at once: fifty cold `npx` in one moment would starve those that run. First come, first
 * served. Whoever asks gets a way to give back, which is also the way to stop asking.
 */
export class Permits {
  readonly #most: number;
  readonly #queue: (() => void)[] = [];
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  ask(granted: () => void): () => void {
    let state: 'queued' | 'granted' | 'over' = 'queued';
    const grant = () => {
      this.#used += 1;
      state = 'granted';
      granted();
    };
    if (this.#used < this.#most) grant();
    else this.#queue.push(grant);
    return () => {
      const was = state;
      state = 'over';
      if (was === 'queued') this.#queue.splice(this.#queue.indexOf(grant), 1);
      if (was !== 'granted') return;
      this.#used -= 1;
      this.#queue.shift()?.();
    };
  }

  /** As the actor that a keeper invokes. `after`: a changed server must not run beside its predecessor. */
  logic(after: Promise<unknown>): PermitLogic {
    return fromCallback<EventObject, PermitInput>(({ sendBack }) => {
      let giveBack: (() => void) | undefined;
      let isOver = false;
      void after.then(() => {
        if (isOver) return;
        giveBack = this.ask(() => sendBack({ type: 'permit.granted' } satisfies PermitReport));
      });
      return () => {
        isOver = true;
        giveBack?.();
      };
    });
  }
}
