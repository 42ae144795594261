import type { ActorRefFrom } from 'xstate';
import type { StdioSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import { endingError } from '../../link/failures/ending-error.js';
import type { Opened } from '../../link/link.js';
import type { StartPurpose } from '../../machines/permit.js';
import { bug, type Ending } from '../../machines/restart/ending.js';
import type { ServerMachine } from '../../machines/server.js';
import { stateName } from '../../machines/state-name.js';
import type { Availability } from '../../machines/transient-context.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink, Outcome } from '../../shared/call-sink.js';
import { memoryUserOf } from '../memory/memory-budget.js';
import { Gate } from './gate.js';
import { GatedLink } from './gated-link.js';
import { StartTicket } from './permits.js';
import type { RunnerOptions } from './runner.js';
import { serverSettings } from './server-settings.js';
import { type IncarnationHost, sharedServer, whenListsRead } from './shared-machines.js';

export interface TransientProcessOptions extends RunnerOptions<StdioSpec> {
  incarnation: number;
  /** The handshake is done, or lists were read. */
  ready(): void;
  /** Its call has its outcome. */
  settled(): void;
  /** Nothing of it is left. */
  ended(ending: Ending): void;
}

/** One process for one call: an incarnation without a keeper. The transient machine decides when it starts and stops. */
export class TransientProcess {
  readonly incarnation: number;
  readonly #options: TransientProcessOptions;
  readonly #gate: Gate;
  readonly #gated: GatedLink;
  readonly #actor: ActorRefFrom<ServerMachine>;
  readonly #start: StartTicket;
  #release = () => {};
  #isTaken = false;

  constructor(options: TransientProcessOptions) {
    const { id, incarnation, spec, deps, pinChecking } = options;
    this.incarnation = incarnation;
    this.#options = options;
    this.#start = new StartTicket(deps.permits);
    this.#gate = new Gate({ name: spec.name, clock: deps.clock, refusal: () => undefined, wake: () => {} });
    this.#gated = new GatedLink({
      ...options,
      gate: this.#gate,
      // once for a server is enough, unless each process is compared with the pins
      readsAll: () => pinChecking?.isStrict() === true,
      compared: () => options.ready(),
      watchMemory: (link, over) => deps.budget?.watch(memoryUserOf(spec, link, over)),
      installing: () => this.#start.giveBack(),
    });
    const host: IncarnationHost = { ...this.#gated.host, openGate: () => this.#open() };
    const settings = { ...serverSettings(spec, () => 0), idleTimeoutMs: 0, host };
    this.#actor = deps.keep(id, 'server', sharedServer, {
      ...settings,
      incarnation,
    }) as ActorRefFrom<ServerMachine>;
    this.#actor.subscribe({
      complete: () => this.#ended(this.#actor.getSnapshot().output ?? bug(spec.name, 'no ending')),
      error: (error) => {
        // it ran no exit action, so its link is still open
        this.#gated.reap();
        this.#ended(bug(`${spec.name}: its incarnation broke`, error));
      },
    });
  }

  /** Starts it when it gets a permit. Not in the constructor, because it may end at once. */
  begin(purpose: StartPurpose): void {
    this.#start.purpose = purpose;
    const connect = () => this.#actor.send({ type: 'connect' });
    this.#release = this.#start.askAfter(this.#options.predecessor, connect);
  }

  /** A call or a request waits for it. */
  startForUse(): void {
    this.#start.forUse();
  }

  /**
   * How soon it can take a call. A session is closed when its process has died, and sealed when the process is told to
   * stop: both before the server machine knows.
   */
  get availability(): Availability {
    const isShut = this.#gated.link !== undefined && this.#gated.link.session.state !== 'open';
    if (isShut || this.#actor.getSnapshot().status !== 'active') return 'never';
    return this.#gate.isOpen ? 'now' : 'later';
  }

  get pids(): readonly number[] {
    return this.#gated.link?.pids ?? [];
  }

  get opened(): Opened | undefined {
    return this.#gated.opened;
  }

  openCalls(): BegunCall[] {
    return [...this.#gate.held, ...(this.#gated.link?.session.unsettled ?? [])];
  }

  get inFlight(): number {
    return this.#gated.link?.session.callsInFlight ?? 0;
  }

  get state(): string {
    return stateName(this.#actor.getSnapshot().value);
  }

  /** Its one call. An error thrown by the caller's own code is logged, and does not keep the process alive. */
  take(request: CallRequest, sink: CallSink): CallHandle | undefined {
    this.#isTaken = true;
    this.startForUse();
    return this.#gate.send(request, new OnlyCallSink(sink, this.#options));
  }

  /** The pins have changed. `isFree`: it can be asked for its lists. */
  recheckPins(isFree: boolean): void {
    if (!this.#gated.pinnedGate.recheckPins() && isFree) this.rediscover();
  }

  renewLogLevel(): void {
    this.#gated.link?.renewLogLevel();
  }

  /** Reads the lists again, if its handshake is done. */
  rediscover(): void {
    if (this.#gated.pinnedGate.isUp) this.#actor.send({ type: 'link.list_changed' });
  }

  whenListsRead(): Promise<void> {
    return whenListsRead(this.#actor);
  }

  stop(): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'stop' });
  }

  /** Fails its call, if it was not sent yet. */
  refuseWaiting(refusal: MCPError): void {
    this.#gate.fail(refusal);
  }

  /** Fails its call. */
  cut(errorFor: (sent: boolean) => MCPError): void {
    this.#gated.link?.session.close(errorFor);
  }

  /** Stops it after its call. */
  finish(): void {
    const session = this.#gated.link?.session;
    // A closed session has lost its process. The ending follows, and its cause must not be hidden by a stop.
    if (session?.state === 'closed') return;
    session?.seal();
    // Ending a process takes some milliseconds: the answer goes out before it.
    setImmediate(() => this.stop());
  }

  #open(): void {
    this.#release();
    this.#gated.host.openGate();
    this.#options.ready();
    this.#warm();
  }

  /** The first answer of a process is its slowest: a spare gives it while no call waits for it. */
  #warm(): void {
    const { timeoutMs } = this.#options.spec.ping;
    // a process that does not answer is found by the pings that follow
    if (!this.#isTaken && timeoutMs > 0) this.#gated.link?.ping(timeoutMs).catch(() => undefined);
  }

  #ended(ending: Ending): void {
    this.#release();
    this.#gated.pinnedGate.seal();
    // The session settled the calls that reached it; this settles one that still waited.
    this.#gate.fail(endingError(this.#options.spec.name, ending, false));
    this.#options.deps.release(this.#options.id);
    this.#options.ended(ending);
  }
}

/** The sink of the one call of a process, which then reports that the call is settled. */
class OnlyCallSink implements CallSink {
  readonly progress: CallSink['progress'];
  readonly ask: CallSink['ask'];
  readonly acceptsRaw: boolean | undefined;
  readonly #sink: CallSink;
  readonly #options: Pick<TransientProcessOptions, 'deps' | 'settled'>;

  constructor(sink: CallSink, options: Pick<TransientProcessOptions, 'deps' | 'settled'>) {
    this.progress = sink.progress;
    this.ask = sink.ask;
    this.acceptsRaw = sink.acceptsRaw;
    this.#sink = sink;
    this.#options = options;
  }

  routed(incarnation: number): void {
    this.#sink.routed?.(incarnation);
  }

  settle(outcome: Outcome): void {
    try {
      this.#sink.settle(outcome);
    } catch (error) {
      this.#options.deps.log(`a caller's own code failed: ${String(error)}`);
    }
    this.#options.settled();
  }
}
