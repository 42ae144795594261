import type { ActorRefFrom } from 'xstate';
import type { StdioSpec } from '../config/spec.js';
import { callErrorFor } from '../link/call-error.js';
import { CancelledError } from '../link/errors.js';
import type { Link, Opened } from '../link/link.js';
import type { CallHandle, CallRequest, CallSink, Outcome } from '../link/session/call.js';
import { bug, type Ending } from '../machines/ending.js';
import { type ServerMachine, serverMachine } from '../machines/server.js';
import { linkActor } from './link-actor.js';
import type { Lists } from './lists.js';
import { serverSettings } from './server-settings.js';
import { stateName } from './state-name.js';
import type { Surroundings } from './surroundings.js';

export interface OneShotEvents {
  /** The handshake is done. */
  ready(): void;
  listed(lists: Lists): void;
  /** Whether the lists have to be read: once for a server is enough. */
  wantsLists(): boolean;
  /** Nothing of it is left. */
  ended(ending: Ending): void;
}

interface TakenCall {
  request: CallRequest;
  sink: CallSink;
  state: 'held' | 'sent' | 'settled';
  handle?: CallHandle | undefined;
}

/** One process for one call: an incarnation that is told to stop as soon as its call has settled. */
export class OneShot {
  readonly id: string;
  readonly incarnation: number;
  readonly #spec: StdioSpec;
  readonly #actor: ActorRefFrom<ServerMachine>;
  readonly #giveBack: () => void;
  #link: Link | undefined;
  #opened: Opened | undefined;
  #isOpen = false;
  #call: TakenCall | undefined;

  constructor(id: string, incarnation: number, spec: StdioSpec, around: Surroundings, on: OneShotEvents) {
    this.id = id;
    this.incarnation = incarnation;
    this.#spec = spec;
    const link = linkActor(spec, around.clock, around.open, {
      linked: (linked) => {
        this.#link = linked;
      },
      opened: (opened) => {
        this.#opened = opened;
      },
      listed: on.listed,
      wantsLists: on.wantsLists,
      log: (text) => around.log(spec.name, text),
    });
    const server = serverMachine.provide({
      actors: { link },
      actions: {
        openGate: () => {
          this.#isOpen = true;
          this.#giveBack();
          this.#handOver();
          on.ready();
        },
        sealGate: () => {
          this.#isOpen = false;
        },
        reap: () => this.#link?.close('kill'),
      },
    });
    const settings = { ...serverSettings(spec, () => 0), idleTimeoutMs: 0 };
    this.#actor = around.keep(id, server, { ...settings, incarnation }) as ActorRefFrom<ServerMachine>;
    this.#actor.subscribe({
      complete: () => this.#ended(this.#actor.getSnapshot().output ?? bug(spec.name, 'no ending'), on, around),
      error: (error) => this.#ended(bug(`${spec.name}: its incarnation broke`, error), on, around),
    });
    this.#giveBack = around.permits.ask(() => this.#actor.send({ type: 'connect' }));
  }

  /** It never had a call. */
  get isSpare(): boolean {
    return this.#call === undefined;
  }

  /** It can take one. */
  get isFree(): boolean {
    return this.isSpare && !this.#isLeaving;
  }

  get isReady(): boolean {
    return this.#isOpen;
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

  /** Its one call. */
  take(request: CallRequest, sink: CallSink): CallHandle {
    const call: TakenCall = { request, sink, state: 'held' };
    this.#call = call;
    if (this.#isOpen) this.#handOver();
    return { id: 0, cancel: (reason) => this.#cancel(call, reason ?? 'cancelled by the caller') };
  }

  stop(): void {
    this.#actor.send({ type: 'stop' });
  }

  get #isLeaving(): boolean {
    const { status, value } = this.#actor.getSnapshot();
    return status !== 'active' || /closing|aborting/.test(stateName(value));
  }

  #cancel(call: TakenCall, reason: string): void {
    if (call.state === 'sent') call.handle?.cancel(reason);
    if (call.state !== 'held') return;
    call.state = 'settled';
    const error = new CancelledError(`${this.#spec.name}: the call was cancelled: ${reason}`);
    call.sink.settle({ ok: false, error });
    this.stop();
  }

  #handOver(): void {
    const call = this.#call;
    if (call?.state !== 'held' || this.#link === undefined) return;
    call.state = 'sent';
    const settle = (outcome: Outcome) => {
      call.state = 'settled';
      call.sink.settle(outcome);
      this.stop();
    };
    call.handle = this.#link.session.send(call.request, { settle, progress: call.sink.progress });
  }

  #ended(ending: Ending, on: OneShotEvents, around: Surroundings): void {
    this.#giveBack();
    const call = this.#call;
    // A call that reached the session was settled there; one that never did learns it here.
    if (call?.state === 'held') {
      call.state = 'settled';
      call.sink.settle({ ok: false, error: callErrorFor(this.#spec.name, ending, false) });
    }
    around.release(this.id);
    on.ended(ending);
  }
}
