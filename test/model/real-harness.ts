/** A replica (keeper, gate, link) with a real process, in a world where the test makes everything happen. */
import { type AnyActorRef, createActor, type InspectionEvent, type SnapshotFrom } from 'xstate';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { ServerMachine } from '../../src/machines/index.js';
import { stopped } from '../../src/supervisor/errors.js';
import { rootMachine } from '../../src/supervisor/herd/root.js';
import { Permits } from '../../src/supervisor/server/permits.js';
import { Replica } from '../../src/supervisor/server/replica.js';
import { stateName } from '../../src/testing/index.js';
import { alive } from '../link/support.js';
import { Caller, listsOwner } from '../supervisor/world.js';
import { serverTitle } from './graphs.js';
import { RealWorld } from './real-world.js';

export const IDLE_MS = 600_000;
export const PING_MS = 15_000;
const MARGIN_MS = 2_000;

export interface HarnessOptions {
  behaviour?: 'held' | 'stubborn';
  lists?: 'held' | 'free';
  spec?: Partial<StdioSpec>;
}

/** Less than the shortest wait that a test plans. */
const BUSY_MS = 200;

export class RealHarness {
  readonly world = new RealWorld();
  readonly permits = new Permits(1);
  readonly callers: Caller[] = [];
  readonly replica: Replica;
  readonly #spec: StdioSpec;
  readonly #walked: (edge: string) => void;
  readonly #last = new WeakMap<AnyActorRef, string>();
  readonly #waiters = new Set<() => void>();
  readonly #heard = new Map<string, number>();
  #broken: Error | undefined;
  /** Number of list_changed notifications. */
  changes = 0;

  /** `walked`: every edge that a server machine took, from where, by what. */
  constructor(
    { behaviour = 'held', lists = 'free', spec = {} }: HarnessOptions,
    walked: (edge: string) => void,
  ) {
    this.#walked = walked;
    this.#spec = this.world.spec(
      behaviour,
      {
        idleTimeoutMs: IDLE_MS,
        ping: { intervalMs: PING_MS, timeoutMs: 50 },
        healthyAfterMs: 10 ** 9,
        restartWindowMs: 10 ** 9,
        maxRestarts: 2,
        ...spec,
      },
      lists,
    );
    const { clock, open } = this.world;
    const root = createActor(rootMachine, {
      clock,
      inspect: (inspection) => this.#inspect(inspection),
    }).start();
    this.replica = new Replica({
      id: 'real@1#0',
      spec: this.#spec,
      deps: {
        clock,
        random: () => 0.5,
        permits: this.permits,
        open,
        keep: (id, _chart, logic, input) => {
          root.send({ type: 'keep', id, logic, input });
          return root.getSnapshot().children[id]!;
        },
        release: (id) => root.send({ type: 'release', id }),
        log: () => undefined,
      },
      lists: listsOwner({
        doubt: () => {
          this.changes += 1;
          this.#look();
        },
      }),
      predecessor: Promise.resolve(),
    });
  }

  get keeper(): string {
    return this.replica.snapshot().states.keeper;
  }

  /** The newest incarnation's, and how it means to end where it is on its way out. */
  get server(): string {
    const incumbent = this.replica.context.incumbent?.getSnapshot();
    return incumbent === undefined ? '' : serverTitle(incumbent);
  }

  /** How often a server machine got this event. */
  heardOf(event: string): number {
    return this.#heard.get(event) ?? 0;
  }

  get pid(): number {
    return this.world.newest!.pid!;
  }

  stop(): void {
    this.replica.stop(stopped('real'));
  }

  /** Calls a tool. The mark is noted by the process that gets it. */
  call(
    name: 'pid' | 'wait' | 'listed' | 'changed' | 'exit' | 'end' | 'shut',
    told?: (caller: Caller) => void,
  ): Caller {
    const caller = new Caller();
    const mark = `m${this.callers.length}`;
    this.callers.push(caller);
    const settle: Caller['settle'] = (outcome) => {
      caller.settle(outcome);
      told?.(caller);
      this.#look();
    };
    const params = { name, arguments: { mark } };
    this.replica.gate.send({ method: 'tools/call', params }, { settle, routed: caller.routed });
    return caller;
  }

  /** Lets the timer of this delay fire. */
  fire(
    delay:
      | 'startTimeout'
      | 'discoverTimeout'
      | 'idleTimeout'
      | 'closeTimeout'
      | 'backoff'
      | 'hold'
      | 'ping'
      | 'change',
  ): void {
    const { startTimeoutMs, stop } = this.#spec;
    const ms = {
      // a link may start two processes, one after the other
      startTimeout: 2 * startTimeoutMs + MARGIN_MS,
      discoverTimeout: 30_000,
      idleTimeout: IDLE_MS,
      closeTimeout: stop.closeMs + stop.termMs + MARGIN_MS,
      backoff: this.#until(this.replica.context.nextRetryAt),
      hold: this.#until(this.replica.context.callableAt),
      ping: PING_MS,
      change: 100,
    }[delay];
    this.world.clock.skip(ms + 1);
  }

  /** Real time passes between the plan of a try and the start of its timer: on a busy machine, milliseconds. */
  #until(time = 0): number {
    return Math.max(0, time - this.world.clock.now()) + BUSY_MS;
  }

  /** Resolves when the condition holds; rejects if an invariant broke meanwhile. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => finish(() => reject(new Error(`not reached: ${what}; it is ${this.keeper}, ${this.server}`))),
        20_000,
      );
      const finish = (end: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        end();
      };
      const look = () => {
        if (this.#broken !== undefined) finish(() => reject(this.#broken));
        else if (isSo()) finish(resolve);
      };
      this.#waiters.add(look);
      look();
    });
  }

  async reaches(state: string): Promise<void> {
    await this.until(state, () => this.keeper === state || this.server === state);
  }

  /** I1, I2, I4, I5, I10 in the whole of it. */
  check(): void {
    if (this.#broken !== undefined) throw this.#broken;
    this.world.check();
    const newest = this.world.newest;
    if (
      this.replica.gate.isOpen &&
      !(newest?.isOpened && newest.incarnation === this.replica.context.incarnation)
    ) {
      throw new Error(`I4: the gate is open, the handshake of ${newest?.incarnation} is not done`);
    }
    for (const { outcomes } of this.callers) if (outcomes.length > 1) throw new Error('I2: settled twice');
  }

  /** Ends it in any state: nothing is left, and every call was settled once. */
  async end(): Promise<void> {
    this.stop();
    for (const { pid } of this.world.alive) process.kill(-pid!, 'SIGKILL');
    await this.replica.whenGone();
    this.check();
    if (this.world.alive.length > 0 || this.world.table.size > 0) throw new Error('I6: a process is left');
    const unsettled = this.callers.filter(({ isSettled }) => !isSettled);
    if (unsettled.length > 0) throw new Error(`I2: ${unsettled.length} calls were never told`);
  }

  #inspect(inspection: InspectionEvent): void {
    if (inspection.type !== '@xstate.snapshot') return;
    const actor = inspection.actorRef as AnyActorRef;
    const { snapshot, event } = inspection;
    if (!('value' in snapshot)) return;
    try {
      if (actor.id.startsWith('server.'))
        this.#stepped(actor, snapshot as SnapshotFrom<ServerMachine>, event);
      if (this.replica !== undefined) this.check();
    } catch (error) {
      this.#broken ??= error as Error;
    }
    this.#look();
  }

  #stepped(actor: AnyActorRef, snapshot: SnapshotFrom<ServerMachine>, event: { type: string }): void {
    const from = this.#last.get(actor);
    const to = serverTitle(snapshot);
    this.#last.set(actor, to);
    this.#heard.set(event.type, this.heardOf(event.type) + 1);
    if (from !== undefined) this.#walked(`${from} · ${labelOf(event)}`);
    const { incarnation } = snapshot.context;
    const process = this.world.processes.find((one) => one.incarnation === incarnation);
    if (snapshot.status !== 'active' && process?.pid !== undefined && alive(process.pid)) {
      throw new Error(`I5: ${stateName(snapshot.value)}, but process ${process.pid} lives`);
    }
  }

  #look(): void {
    for (const look of [...this.#waiters]) look();
  }
}

/** An event by its type and what the machine looks at in it. */
export function labelOf(event: { type: string; code?: unknown; killed?: unknown }): string {
  const { type } = event;
  if (type.startsWith('xstate.after.')) return `after ${type.split('.')[2]}`;
  if (type === 'link.exited') return event.code === 0 ? 'link.exited 0' : 'link.exited 1';
  if (type === 'link.closed') return event.killed ? 'link.closed killed' : 'link.closed';
  return type;
}
