import type { ActorRefFrom } from 'xstate';
import type { StdioSpec } from '../../config/schema/spec.js';
import type { Link, Opened } from '../../link/link.js';
import type { CallHandle, CallRequest, Outcome } from '../../link/session/call.js';
import { endingError } from '../../link/session/ending-error.js';
import { bug, type Ending } from '../../machines/ending.js';
import type { ServerMachine } from '../../machines/server.js';
import { stateName } from '../../machines/state-name.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import { memoryUserOf } from '../memory/memory-user.js';
import { Gate } from './gate.js';
import { linkCallback } from './link-actor.js';
import { whenListsRead } from './lists-read.js';
import type { StartPurpose } from './permits.js';
import { type PinChecking, PinnedGate } from './pinned-gate.js';
import type { RoutedSink } from './routed-sink.js';
import type { ServerDeps } from './server-deps.js';
import { serverSettings } from './server-settings.js';
import { type IncarnationHost, sharedServer } from './shared-machines.js';

export interface TransientProcessEvents {
  /** The handshake is done. */
  ready(): void;
  listed(reading: Reading): void;
  /** The server says that this list has changed. */
  outdated?(list: ListName): void;
  /** Which lists have to be read: once for a server is enough. */
  toRead(): ReadingOrder;
  /** Nothing of it is left. */
  ended(ending: Ending): void;
  pinChecking?: PinChecking | undefined;
}

/** One process for one call: an incarnation that is told to stop as soon as its call has settled. */
export class TransientProcess {
  readonly id: string;
  readonly #spec: StdioSpec;
  readonly #deps: ServerDeps;
  readonly #on: TransientProcessEvents;
  readonly #gate: Gate;
  readonly #pinnedGate: PinnedGate;
  readonly #actor: ActorRefFrom<ServerMachine>;
  #release = () => {};
  #link: Link | undefined;
  #opened: Opened | undefined;
  #isTaken = false;
  #startPurpose: StartPurpose = 'use';

  constructor(
    id: string,
    incarnation: number,
    spec: StdioSpec,
    deps: ServerDeps,
    on: TransientProcessEvents,
  ) {
    this.id = id;
    this.#spec = spec;
    this.#deps = deps;
    this.#on = on;
    this.#gate = new Gate({ name: spec.name, clock: deps.clock, refusal: () => undefined, wake: () => {} });
    this.#pinnedGate = new PinnedGate(this.#gate, on.pinChecking);
    const link = linkCallback(spec, deps.clock, deps.open, {
      linked: (linked) => {
        this.#link = linked;
      },
      opened: (opened) => {
        this.#opened = opened;
      },
      listed: on.listed,
      outdated: (list) => {
        on.outdated?.(list);
        this.#pinnedGate.doubt(list);
      },
      toRead: on.toRead,
      watchMemory: (linked, over) => deps.budget?.watch(memoryUserOf(spec, linked, over)),
      log: (text) => deps.log(text),
    });
    const host: IncarnationHost = {
      link,
      openGate: () => this.#open(),
      sealGate: () => this.#pinnedGate.seal(),
      reap: () => this.#link?.close('kill'),
    };
    const settings = { ...serverSettings(spec, () => 0), idleTimeoutMs: 0, host };
    this.#actor = deps.keep(id, 'server', sharedServer, {
      ...settings,
      incarnation,
    }) as ActorRefFrom<ServerMachine>;
    this.#actor.subscribe({
      complete: () => this.#ended(this.#actor.getSnapshot().output ?? bug(spec.name, 'no ending')),
      error: (error) => {
        // it ran no exit action, and its link was left to itself
        this.#link?.close('kill');
        this.#ended(bug(`${spec.name}: its incarnation broke`, error));
      },
    });
  }

  /** Starts it when it is its turn, and not before `after`. Apart from the making, because its end may come at once. */
  begin(after: Promise<unknown>, purpose: StartPurpose): void {
    this.#startPurpose = purpose;
    const connect = () => this.#actor.send({ type: 'connect' });
    this.#release = this.#deps.permits.askAfter(after, connect, () => this.#startPurpose);
  }

  /** Somebody waits for it: a start that waits for a permit as a discovery goes before all discoveries. */
  startForUse(): void {
    if (this.#startPurpose === 'use') return;
    this.#startPurpose = 'use';
    this.#deps.permits.reconsider();
  }

  /** It never had a call. */
  get isSpare(): boolean {
    return !this.#isTaken;
  }

  /** It can take one. */
  get isFree(): boolean {
    return this.isSpare && !this.#isLeaving;
  }

  get isReady(): boolean {
    return this.#gate.isOpen;
  }

  get pids(): readonly number[] {
    return this.#link?.pids ?? [];
  }

  get opened(): Opened | undefined {
    return this.#opened;
  }

  get inFlight(): number {
    return this.#link?.session.inFlight ?? 0;
  }

  get state(): string {
    return stateName(this.#actor.getSnapshot().value);
  }

  /** Its one call. Whoever made it may break when it is told: that is said, and the process goes all the same. */
  take(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    this.#isTaken = true;
    this.startForUse();
    const settle = (outcome: Outcome) => {
      try {
        sink.settle(outcome);
      } catch (error) {
        this.#deps.log(`a caller's own code failed: ${String(error)}`);
      }
      this.#finish();
    };
    // a sink may be of a class, whose methods are not copied
    const routed = (incarnation: number) => sink.routed?.(incarnation);
    return this.#gate.send(request, { ...sink, settle, routed });
  }

  /** Its lists were read, and what is in them is known: it may be let in. */
  admit(reading: Reading): void {
    this.#pinnedGate.listed(reading);
  }

  /** What may be called is not what it was. */
  recheckPins(): void {
    if (!this.#pinnedGate.recheckPins() && this.isSpare) this.rediscover();
  }

  /** Reads the lists anew, if it can be asked. */
  rediscover(): void {
    if (this.#pinnedGate.isUp) this.#actor.send({ type: 'link.list_changed' });
  }

  whenTold(): Promise<void> {
    return whenListsRead(this.#actor);
  }

  stop(): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'stop' });
  }

  /** Its call has settled. */
  #finish(): void {
    const session = this.#link?.session;
    // A session that is closed has lost its process: that end comes by itself, and its cause is to be seen.
    if (session?.state === 'closed') return;
    session?.seal();
    // Ending a process is work for some milliseconds: the answer goes out before it.
    setImmediate(() => this.stop());
  }

  /** A session is closed when its process has died, and sealed when that is told to go: both before a machine knows. */
  get #isLeaving(): boolean {
    const isShut = this.#link !== undefined && this.#link.session.state !== 'open';
    return isShut || this.#actor.getSnapshot().status !== 'active';
  }

  #open(): void {
    this.#release();
    if (this.#link !== undefined) this.#pinnedGate.open(this.#link.session);
    this.#on.ready();
    this.#warm();
  }

  /** The first answer of a process is its slowest: a spare gives it while nobody waits. */
  #warm(): void {
    const { timeoutMs } = this.#spec.ping;
    // whether it answers is for the pings that follow to judge
    if (this.isSpare && timeoutMs > 0) this.#link?.ping(timeoutMs).catch(() => undefined);
  }

  #ended(ending: Ending): void {
    this.#release();
    this.#pinnedGate.seal();
    // A call that reached the session was settled there; one that never did learns it here.
    this.#gate.fail(endingError(this.#spec.name, ending, false));
    this.#deps.release(this.id);
    this.#on.ended(ending);
  }
}
