import { type ActorRefFrom, type SnapshotFrom, waitFor } from 'xstate';
import type { BegunCall } from '../../link/calls/call.js';
import { endingError } from '../../link/failures/ending-error.js';
import type { Link } from '../../link/link.js';
import type { KeeperMachine } from '../../machines/keeper.js';
import type { IncarnationReport, KeeperOrder } from '../../machines/keeper-context.js';
import type { StartPurpose } from '../../machines/permit.js';
import { bug, type Ending, type Failed } from '../../machines/restart/ending.js';
import { type KeeperStateName, keeperState, serverState, stateName } from '../../machines/state-name.js';
import type { MCPError } from '../../shared/call-errors.js';
import { dateOf } from '../../shared/clock.js';
import type { Reading } from '../catalog/lists.js';
import { stopped } from '../errors.js';
import { memoryUserOf } from '../memory/memory-budget.js';
import { Gate } from './gate.js';
import { GatedLink } from './gated-link.js';
import { StartTicket } from './permits.js';
import { refusalOf } from './refusal.js';
import type { RunnerOptions } from './runner.js';
import { serverSettings } from './server-settings.js';
import type { ServerSnapshot } from './server-snapshot.js';
import { type KeeperHost, sharedKeeper, whenListsRead } from './shared-machines.js';

export interface ReplicaOptions extends RunnerOptions {
  /** Whether it was connected before this daemon began. */
  wasConnected?(): boolean;
  /** Whether a quarantine is tried after its cool-down without a call, too. */
  isTriedUncalled?(): boolean;
  /** A subscriber waits for its notifications: it is not idle. */
  isWatched?(): boolean;
  /** Some subscriber may be told by another node of the cluster. */
  isWatchedAnywhere?(): boolean;
  /** Lists were read, and compared with their pins. */
  compared?(reading: Reading): void;
  /** Its process takes no calls and answers no questions any more. */
  sealed?(): void;
}

/**
 * One of the parallel processes of a server: a keeper, the gate in front of it, and the link of the newest incarnation.
 * A server with `replicas: n` has n of them.
 */
export class Replica {
  readonly gate: Gate;
  readonly #options: ReplicaOptions;
  readonly #gated: GatedLink;
  readonly #keeper: ActorRefFrom<KeeperMachine>;
  /** A discovery that failed is tried again as a discovery, until a call or an order needs the server. */
  readonly #start: StartTicket;
  /** The error of calls while it is stopped. */
  #stopError: MCPError;
  /** What the keeper threw: a bug of ours, after which nothing starts here any more. */
  #broken: Failed | undefined;
  #lastStop: Ending | undefined;
  #failedAt: number | undefined;

  constructor(options: ReplicaOptions) {
    const { id, spec, deps, predecessor } = options;
    this.#options = options;
    this.#start = new StartTicket(deps.permits);
    this.#stopError = stopped(spec.name);
    this.gate = new Gate({
      name: spec.name,
      clock: deps.clock,
      refusal: () => this.#refusal(),
      wake: () => {
        this.#start.forUse();
        this.#wake();
      },
    });
    this.#gated = new GatedLink({
      ...options,
      gate: this.gate,
      readsAll: (isFirst) => isFirst,
      compared: (reading) => options.compared?.(reading),
      watchMemory: (link, over) => this.#watchMemory(link, over),
      installing: () => this.#start.giveBack(),
    });
    const host: KeeperHost = {
      ...this.#gated.host,
      sealGate: () => {
        this.#gated.pinnedGate.seal();
        options.sealed?.();
      },
      permit: (granted) => this.#start.askAfter(predecessor, granted),
    };
    const input = {
      policy: spec,
      server: { ...serverSettings(spec, () => this.#idleForMs()), host },
      now: () => deps.clock.now(),
      random: () => deps.random(),
      wasConnected: () => options.wasConnected?.() ?? false,
    };
    this.#keeper = deps.keep(id, 'keeper', sharedKeeper, input) as ActorRefFrom<KeeperMachine>;
    this.#keeper.on('incarnation.ended', (report) => this.#ended(report));
    this.#keeper.on('hold.ended', () => this.#onHoldEnded());
    this.#keeper.subscribe({ error: (error) => this.#broke(error) });
  }

  /** It runs before the first call. */
  get isEager(): boolean {
    return this.#options.spec.start === 'eager';
  }

  order(order: Exclude<KeeperOrder['type'], 'stop'>): void {
    this.#start.forUse();
    this.#keeper.send({ type: order });
  }

  /** `stopError`: the error of calls from now on. */
  stop(stopError: MCPError): void {
    this.#stopError = stopError;
    this.#keeper.send({ type: 'stop' });
    // Between two incarnations no ending comes that would fail the waiting calls.
    this.#failWaiting();
  }

  /**
   * Fails the calls that wait, and stops it unless its process has a call. With the outcome of the last one, a crashed
   * process has no successor.
   */
  drain(refusal: MCPError): void {
    this.gate.fail(refusal);
    if (this.#inFlight === 0) this.stop(refusal);
  }

  /** Fails the calls that are with the process. */
  cut(errorFor: (sent: boolean) => MCPError): void {
    this.#gated.link?.session.close(errorFor);
  }

  /** Has the lists read that are not fresh. A server that does not run is started for it as for a call. */
  discover(purpose: StartPurpose = 'discovery'): void {
    if (this.isUp) {
      this.context.incumbent?.send({ type: 'link.list_changed' });
      return;
    }
    if (purpose === 'use') this.#start.forUse();
    // a start that is under way, or to be tried again, keeps its purpose
    else if (this.detail === 'idle' || this.detail === 'quarantined') this.#start.purpose = 'discovery';
    this.#wake();
  }

  renewLogLevel(): void {
    this.#gated.link?.renewLogLevel();
  }

  /** The set of tools that may be called has changed. */
  recheckPins(): void {
    this.#gated.pinnedGate.recheckPins();
  }

  /** It can be asked, whether it takes calls or not. */
  get isUp(): boolean {
    return this.#gated.pinnedGate.isUp;
  }

  /** What a call waits for here: at most a start, the next try, or a person, until when it is refused. */
  get waitsFor(): 'start' | 'retry' | 'person' {
    if (this.#refusal() !== undefined) return 'person';
    const { detail } = this;
    return detail === 'waiting' || detail === 'quarantined' ? 'retry' : 'start';
  }

  /** It is quarantined, and a call may make one try. */
  get isTrialDue(): boolean {
    return this.#keeper.getSnapshot().hasTag('callable') && this.detail === 'quarantined';
  }

  get context() {
    return this.#keeper.getSnapshot().context;
  }

  /** A keeper that broke is given up: nothing starts it. */
  get detail(): KeeperStateName {
    if (this.#broken !== undefined) return 'quarantined';
    return keeperState(stateName(this.#keeper.getSnapshot().value));
  }

  openCalls(): BegunCall[] {
    return [...this.gate.held, ...(this.#gated.link?.session.unsettled ?? [])];
  }

  get #inFlight(): number {
    return this.#gated.link?.session.callsInFlight ?? 0;
  }

  get #lastError(): Failed | undefined {
    const { lastError } = this.context;
    return this.#broken ?? (lastError && this.#advised(lastError));
  }

  snapshot(): ServerSnapshot {
    const { incarnation, incumbent, restarts, nextRetryAt } = this.context;
    const link = this.#gated.link;
    const server = incumbent === undefined ? 'created' : stateName(incumbent.getSnapshot().value);
    return {
      state: serverState(server),
      detail: this.detail,
      states: { server, keeper: stateName(this.#keeper.getSnapshot().value) },
      pids: [...(link?.pids ?? [])],
      incarnation,
      restarts,
      nextRetryAt,
      lastError: this.#lastError,
      failedAt: this.#failedAt,
      inFlight: this.#inFlight,
      opened: this.isUp ? this.#gated.opened : undefined,
    };
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
    this.#options.deps.release(this.#options.id);
  }

  /** A keeper that broke comes into no state any more. */
  async #when(isReached: (keeper: SnapshotFrom<KeeperMachine>) => boolean): Promise<void> {
    await waitFor(this.#keeper, isReached).catch(() => undefined);
  }

  #watchMemory(link: Link, over: (bytes: number) => void): (() => void) | undefined {
    const isLeaving = () => this.context.incumbent?.getSnapshot().hasTag('leaving') ?? false;
    const evictable = {
      isEager: this.isEager,
      isLeaving,
      idleForMs: () => this.#idleForMs(),
      rest: (message: string) => {
        this.context.incumbent?.send({ type: 'rest', message });
        if (isLeaving()) this.#options.deps.log(message);
        return isLeaving();
      },
    };
    return this.#options.deps.budget?.watch(memoryUserOf(this.#options.spec, link, over, evictable));
  }

  #broke(error: unknown): void {
    this.#broken = bug(`${this.#options.spec.name}: its keeper broke`, error);
    this.#failedAt = dateOf(this.#options.deps.clock);
    this.#gated.reap();
    this.#failWaiting();
  }

  #connectedForMs(): number {
    const { connectedAt } = this.context;
    return connectedAt === undefined ? 0 : this.#options.deps.clock.now() - connectedAt;
  }

  /** How long it has been connected without a call or a subscriber; 0 while it has one. */
  #idleForMs(): number {
    const session = this.#gated.link?.session;
    if (session === undefined || session.isInUse || this.#options.isWatched?.()) return 0;
    return Math.min(this.#options.deps.clock.now() - session.lastActivityAt, this.#connectedForMs());
  }

  #onHoldEnded(): void {
    if (this.gate.waiting > 0) this.#wake();
    else if (this.detail === 'quarantined' && this.#options.isTriedUncalled?.()) this.discover();
  }

  #wake(): void {
    this.#keeper.send({ type: 'call.waiting' });
  }

  #refusal(): MCPError | undefined {
    const { name } = this.#options.spec;
    if (this.#broken !== undefined) return endingError(name, this.#broken, false);
    const { detail, context } = this;
    const lastError = this.#lastError;
    const isCallable = this.#keeper.getSnapshot().hasTag('callable');
    const now = this.#options.deps.clock.now();
    return refusalOf({ name, detail, isCallable, lastError, context, now, stopError: this.#stopError });
  }

  /** Fails the calls that wait, where no incarnation will serve them. */
  #ended({ ending, connected }: IncarnationReport): void {
    if (ending.kind === 'disconnected' && ending.reason === 'stopped') this.#lastStop = ending;
    if (ending.kind === 'error') this.#failedAt = dateOf(this.#options.deps.clock);
    // Calls that waited for a failed start do not wait for the next one. A replaced incarnation is no failure.
    if (!connected && ending.kind === 'error') {
      this.gate.fail(endingError(this.#options.spec.name, this.#advised(ending), false));
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
