import type { CallHandle, CallRequest } from '../../link/calls/call.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import type { Runner } from '../server/runner.js';
import type { Candidate, Readiness } from './candidate.js';
import type { PeerReplica } from './peers.js';

export type Node = OwnNode | PeerNode;

/** For how long a node that refused a call gets others only where no node is better. */
const DOUBT_MS = 2000;

const READINESS = { start: 'starts', retry: 'tries', person: 'refuses' } as const;

/** This node, where replicas of the server run here. */
export class OwnNode implements Candidate {
  readonly node = undefined;
  readonly runner: Runner;

  constructor(runner: Runner) {
    this.runner = runner;
  }

  get readiness(): Readiness {
    return this.runner.isReady ? 'ready' : READINESS[this.runner.waitsFor];
  }

  get load(): number {
    return this.runner.load;
  }

  connected(): Runner {
    return this.runner;
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    return this.runner.send(request, sink);
  }

  ended(): void {}
}

/** Another node that has the server. The connection to it is made when the first call goes there. */
export class PeerNode implements Candidate {
  readonly #clock: Clock;
  readonly #connect: () => Runner;
  #runner: Runner | undefined;
  #peer: PeerReplica;
  /** Our calls that the last report of the node counts already. */
  #counted = 0;
  /** It refused a call since its last report. */
  #doubtedUntil = Number.NEGATIVE_INFINITY;
  /** The error of calls that wait for it; it has left. */
  #leaving: MCPError | undefined;

  constructor(peer: PeerReplica, clock: Clock, connect: () => Runner) {
    this.#peer = peer;
    this.#clock = clock;
    this.#connect = connect;
  }

  get node(): string {
    return this.#peer.node;
  }

  get peer(): PeerReplica {
    return this.#peer;
  }

  /** The connection to it; undefined while none was needed. */
  get runner(): Runner | undefined {
    return this.#runner;
  }

  get readiness(): Readiness {
    const { isReady, mayStart } = this.#peer;
    if (this.#clock.now() < this.#doubtedUntil) return 'tries';
    if (isReady) return 'ready';
    return mayStart ? 'starts' : 'tries';
  }

  /** What the node reported, and our calls since. */
  get load(): number {
    const ours = this.#runner?.load ?? 0;
    return Math.max(ours, this.#peer.load + ours - this.#counted);
  }

  report(peer: PeerReplica): void {
    if (peer === this.#peer) return;
    this.#peer = peer;
    this.#counted = this.#runner?.load ?? 0;
    this.#doubtedUntil = Number.NEGATIVE_INFINITY;
  }

  connected(): Runner {
    this.#runner ??= this.#connect();
    return this.#runner;
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    return this.connected().send(request, sink);
  }

  ended(isRefused: boolean): void {
    if (isRefused) this.#doubtedUntil = this.#clock.now() + DOUBT_MS;
    if (this.#leaving !== undefined) this.#runner?.drain(this.#leaving);
  }

  /** It offers the server no more: its calls in flight may end, then the connection is closed. */
  leave(refusal: MCPError): void {
    this.#leaving = refusal;
    this.#runner?.drain(refusal);
  }
}
