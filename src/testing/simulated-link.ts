/** A link without a process: it answers orders as its script says, and reports whatever a test makes it report. */
import type { CallbackLogicFunction } from 'xstate';
import type { LinkInput, LinkOrder, LinkReport } from '../machines/link-protocol.js';
import type { VirtualClock } from './clock.js';
import type { Behaviour } from './script.js';

export interface SimulatedProcess {
  readonly incarnation: number;
  readonly openedAt: number;
  alive: boolean;
  handshakeDone: boolean;
}

/** The world a link lives in. */
export interface LinkWorld {
  readonly clock: VirtualClock;
  behaviour(incarnation: number): Behaviour;
  open(incarnation: number): void;
  process(incarnation: number): SimulatedProcess | undefined;
  lawBroken(law: string): void;
}

type Scope = Parameters<CallbackLogicFunction<LinkOrder, LinkReport, LinkInput>>[0];

export class SimulatedLink {
  readonly incarnation: number;
  /** Every order it was given. */
  readonly orders: LinkOrder['type'][] = [];
  readonly #world: LinkWorld;
  readonly #scope: Scope;
  readonly #timers = new Set<number>();
  #life: 'whole' | 'breaking' | 'over' = 'whole';

  constructor(world: LinkWorld, scope: Scope) {
    this.incarnation = scope.input.incarnation;
    this.#world = world;
    this.#scope = scope;
    scope.receive((order) => this.#obey(order));
  }

  /** It makes this report, and the world becomes what the report says. */
  say(report: LinkReport): void {
    if (this.#life === 'over') return;
    const process = this.#world.process(this.incarnation);
    if (process) Object.assign(process, truthOf(report));
    this.#scope.sendBack(report);
  }

  /** It throws, as no link may. */
  break(): void {
    if (this.#life === 'over') return;
    this.#life = 'breaking';
    this.#scope.self.send({ type: 'discover' });
  }

  dispose(): void {
    this.#life = 'over';
    for (const timer of this.#timers) this.#world.clock.clearTimeout(timer);
    if (this.#isAlive()) this.#world.lawBroken(`I5: final, but process ${this.incarnation} lives`);
  }

  #obey({ type }: LinkOrder): void {
    if (this.#life === 'breaking') {
      this.#life = 'over';
      throw new Error('the link broke');
    }
    this.orders.push(type);
    if (type === 'open') this.#world.open(this.incarnation);
    for (const { afterMs, report } of this.#world.behaviour(this.incarnation)[type] ?? []) {
      // A report that nothing is left is the last one.
      const make = () => this.#isAlive() && this.say(report);
      if (afterMs === 0) make();
      else this.#timers.add(this.#world.clock.setTimeout(make, afterMs));
    }
  }

  #isAlive(): boolean {
    return this.#world.process(this.incarnation)?.alive ?? false;
  }
}

function truthOf({ type }: LinkReport): Partial<SimulatedProcess> {
  if (type === 'link.opened') return { handshakeDone: true };
  const isGone = type === 'link.exited' || type === 'link.closed' || type === 'link.close_failed';
  return isGone ? { alive: false } : {};
}
