import { type ActorRefFrom, type SnapshotFrom, waitFor } from 'xstate';
import type { ServerSpec } from '../../config/schema/spec.js';
import { endingError } from '../../link/calls/ending-error.js';
import type { Link, Opened } from '../../link/link.js';
import type { KeeperMachine } from '../../machines/keeper.js';
import type { IncarnationReport, KeeperOrder } from '../../machines/keeper-context.js';
import type { StartPurpose } from '../../machines/permit.js';
import { bug, type Ending, type Failed } from '../../machines/restart/ending.js';
import { stateName, topName } from '../../machines/state-name.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import { stopped } from '../errors.js';
import { memoryUserOf } from '../memory/memory-budget.js';
import { Gate } from './gate.js';
import { GatedLink, type GatedLinkEvents } from './gated-link.js';
import type { PinChecking } from './pinned-gate.js';
import { type KeeperDetail, refusalOf } from './refusal.js';
import type { ServerDeps } from './server-deps.js';
import { serverSettings } from './server-settings.js';
import { type KeeperHost, sharedKeeper, whenListsRead } from './shared-machines.js';

/**
 * One of the parallel processes of a server: a keeper, the gate in front of it, and the link of the newest incarnation.
 * A server with `replicas: n` has n of them.
 */
export class Replica {
  readonly id: string;
  readonly gate: Gate;
  readonly #gated: GatedLink;
  readonly #spec: ServerSpec;
  readonly #deps: ServerDeps;
  readonly #isWatched: () => boolean;
  readonly #keeper: ActorRefFrom<KeeperMachine>;
  /** A discovery that failed is tried again as a discovery, until a call or an order needs the server. */
  #startPurpose: StartPurpose = 'use';
  /** The error of calls while it is stopped. */
  #farewell: MCPError;
  /** What the keeper threw: a bug of ours, after which nothing starts here any more. */
  #broken: Failed | undefined;
  #lastStop: Ending | undefined;
  #failedAt: number | undefined;

  constructor(
    id: string,
    spec: ServerSpec,
    deps: ServerDeps,
    on: {
      listed(reading: Reading): void;
      outdated?(list: ListName): void;
      /** Whether it was connected before this daemon began. */
      wasConnected?(): boolean;
      toRead(isFirst: boolean): ReadingOrder;
      /** Its process takes no calls and answers no questions any more. */
      sealed?(): void;
      /** A subscriber waits for its notifications: it is not idle. */
      isWatched?(): boolean;
      pinChecking?: PinChecking | undefined;
    },
    predecessor: Promise<unknown>,
  ) {
    this.id = id;
    this.#spec = spec;
    this.#deps = deps;
    this.#isWatched = on.isWatched ?? (() => false);
    this.#farewell = stopped(spec.name);
    this.gate = new Gate({
      name: spec.name,
      clock: deps.clock,
      refusal: () => this.#refusal(),
      wake: () => {
        this.#startForUse();
        this.#wake();
      },
    });
    const { listed, outdated, toRead, pinChecking } = on;
    const watchMemory: GatedLinkEvents['watchMemory'] = (link, over) => this.#watchMemory(link, over);
    this.#gated = new GatedLink(spec, deps, this.gate, {
      listed,
      outdated,
      toRead,
      pinChecking,
      watchMemory,
    });
    const host: KeeperHost = {
      ...this.#gated.host,
      sealGate: () => {
        this.#gated.pinnedGate.seal();
        on.sealed?.();
      },
      permit: (granted) => deps.permits.askAfter(predecessor, granted, () => this.#startPurpose),
    };
    const input = {
      policy: spec,
      server: { ...serverSettings(spec, () => this.#needlessForMs()), host },
      now: () => deps.clock.now(),
      random: () => deps.random(),
      wasConnected: () => on.wasConnected?.() ?? false,
    };
    this.#keeper = deps.keep(id, 'keeper', sharedKeeper, input) as ActorRefFrom<KeeperMachine>;
    this.#keeper.on('incarnation.ended', (report) => this.#ended(report));
    this.#keeper.on('hold.ended', () => this.gate.waiting > 0 && this.#wake());
    this.#keeper.subscribe({ error: (error) => this.#broke(error) });
  }

  order(order: Exclude<KeeperOrder['type'], 'stop'>): void {
    this.#startForUse();
    this.#keeper.send({ type: order });
  }

  /** `farewell`: the error of calls from now on. */
  stop(farewell: MCPError): void {
    this.#farewell = farewell;
    this.#keeper.send({ type: 'stop' });
    // Between two incarnations no ending comes that would fail the waiting calls.
    this.#failWaiting();
  }

  /** Has the lists read that are not fresh. A server that does not run is started for it as for a call. */
  discover(purpose: StartPurpose = 'discovery'): void {
    if (this.isUp) {
      this.context.incumbent?.send({ type: 'link.list_changed' });
      return;
    }
    if (purpose === 'use') this.#startForUse();
    // a start that is under way, or to be tried again, keeps its purpose
    else if (this.detail === 'idle') this.#startPurpose = 'discovery';
    this.#wake();
  }

  /** The set of tools that may be called has changed. */
  recheckPins(): void {
    this.#gated.pinnedGate.recheckPins();
  }

  /** It can be asked, whether it takes calls or not. */
  get isUp(): boolean {
    return this.#gated.pinnedGate.isUp;
  }

  /** How long a call would wait here: 0 not at all or for a start, 1 for a next try, 2 for a person. */
  get delay(): 0 | 1 | 2 {
    if (this.#refusal() !== undefined) return 2;
    return this.detail === 'waiting' ? 1 : 0;
  }

  get context() {
    return this.#keeper.getSnapshot().context;
  }

  /** A keeper that broke is given up: nothing starts it. */
  get detail(): KeeperDetail {
    if (this.#broken !== undefined) return 'quarantined';
    return topName(stateName(this.#keeper.getSnapshot().value)) as KeeperDetail;
  }

  get lastError(): Failed | undefined {
    const { lastError } = this.context;
    return this.#broken ?? (lastError && this.#advised(lastError));
  }

  /** The full states of both charts. */
  get states(): { server: string; keeper: string } {
    const incumbent = this.context.incumbent?.getSnapshot();
    return {
      server: incumbent === undefined ? 'created' : stateName(incumbent.value),
      keeper: stateName(this.#keeper.getSnapshot().value),
    };
  }

  get pids(): readonly number[] {
    return this.#gated.link?.pids ?? [];
  }

  get inFlight(): number {
    return this.#gated.link?.session.inFlight ?? 0;
  }

  get opened(): Opened | undefined {
    return this.isUp ? this.#gated.opened : undefined;
  }

  /** When the newest incarnation that failed came to its end. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** How the last ordered stop went. */
  get lastStop(): Ending | undefined {
    return this.#lastStop;
  }

  /** Resolves when it runs, or when it is clear that it does not (waiting for the next try, given up, stopped). */
  async whenDecided(): Promise<void> {
    await this.#when((keeper) => !keeper.hasTag('running') || keeper.hasTag('up'));
  }

  /** Resolves when the present incarnation is reading no lists (any more). */
  async whenListsRead(): Promise<void> {
    const { incumbent } = this.context;
    if (incumbent !== undefined) await whenListsRead(incumbent);
  }

  /** Resolves when nothing of the present incarnation is left. A later order may have a fresh one follow it. */
  async whenGone(): Promise<void> {
    const { incarnation } = this.context;
    await this.#when((keeper) => !keeper.hasTag('running') || keeper.context.incarnation > incarnation);
  }

  release(): void {
    this.#deps.release(this.id);
  }

  /** A keeper that broke comes into no state any more. */
  async #when(isReached: (keeper: SnapshotFrom<KeeperMachine>) => boolean): Promise<void> {
    await waitFor(this.#keeper, isReached).catch(() => undefined);
  }

  #watchMemory(link: Link, over: (bytes: number) => void): (() => void) | undefined {
    const isLeaving = () => this.context.incumbent?.getSnapshot().hasTag('leaving') ?? false;
    const evictable = {
      isEager: this.#spec.start === 'eager',
      isLeaving,
      idleForMs: () => this.#needlessForMs(),
      rest: (message: string) => {
        this.context.incumbent?.send({ type: 'rest', message });
        if (isLeaving()) this.#deps.log(message);
        return isLeaving();
      },
    };
    return this.#deps.budget?.watch(memoryUserOf(this.#spec, link, over, evictable));
  }

  #broke(error: unknown): void {
    this.#broken = bug(`${this.#spec.name}: its keeper broke`, error);
    this.#failedAt = this.#deps.clock.now();
    this.#gated.reap();
    this.#failWaiting();
  }

  #connectedForMs(): number {
    const { connectedAt } = this.context;
    return connectedAt === undefined ? 0 : this.#deps.clock.now() - connectedAt;
  }

  /** How long it has been connected without a call or a subscriber; 0 while it has one. */
  #needlessForMs(): number {
    const session = this.#gated.link?.session;
    if (session === undefined || session.isInUse || this.#isWatched()) return 0;
    return Math.min(this.#deps.clock.now() - session.lastActivityAt, this.#connectedForMs());
  }

  /** A call or a request waits for it: its start goes before all discoveries. */
  #startForUse(): void {
    if (this.#startPurpose === 'use') return;
    this.#startPurpose = 'use';
    this.#deps.permits.reconsider();
  }

  #wake(): void {
    this.#keeper.send({ type: 'call.waiting' });
  }

  #refusal(): MCPError | undefined {
    const { name } = this.#spec;
    if (this.#broken !== undefined) return endingError(name, this.#broken, false);
    const { detail, lastError, context } = this;
    const isCallable = this.#keeper.getSnapshot().hasTag('callable');
    const now = this.#deps.clock.now();
    return refusalOf({ name, detail, isCallable, lastError, context, now, farewell: this.#farewell });
  }

  /** Fails the calls that wait, where no incarnation will serve them. */
  #ended({ ending, connected }: IncarnationReport): void {
    if (ending.kind === 'disconnected' && ending.reason === 'stopped') this.#lastStop = ending;
    if (ending.kind === 'error') this.#failedAt = this.#deps.clock.now();
    // Calls that waited for a failed start do not wait for the next one. A replaced incarnation is no failure.
    if (!connected && ending.kind === 'error') {
      this.gate.fail(endingError(this.#spec.name, this.#advised(ending), false));
    }
    this.#failWaiting();
  }

  /** The entry of a server that was connected before is most likely right. */
  #advised(failed: Failed): Failed {
    if (!failed.looksMisconfigured || !this.context.history.hasConnected) return failed;
    return { ...failed, fix: `wait for the next try: it was connected before; if this lasts, ${failed.fix}` };
  }

  #failWaiting(): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) this.gate.fail(refusal);
  }
}
