import type { CallRequest, CallSink } from '../../link/calls/call.js';
import type { Session } from '../../link/calls/session.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { ListName, Reading } from '../catalog/lists.js';
import type { Gate } from './gate.js';

export interface PinChecking {
  /** Whether tools must be compared with their pins before a call. */
  isStrict(): boolean;
  /** By what is known now; undefined where the call may pass. */
  refusalOf(request: CallRequest): MCPError | undefined;
}

/**
 * Opens and seals a gate as the machine says. With `enforce` an incarnation takes calls only when its tools were read
 * and compared, and not while it says that they have changed: calls wait at the gate meanwhile, and of those that
 * waited only what may still be called goes on. Any new process may be another version of its program.
 */
export class PinnedGate {
  readonly #gate: Gate;
  readonly #pinChecking: PinChecking | undefined;
  #session: Session | undefined;
  #isHeld = false;
  /** The tools of this incarnation were read. */
  #isKnown = false;

  constructor(gate: Gate, pinChecking: PinChecking | undefined) {
    this.#gate = gate;
    this.#pinChecking = pinChecking;
  }

  /** Its handshake is done and it lives, whether calls pass or not. */
  get isUp(): boolean {
    return this.#session?.state === 'open';
  }

  /** Its calls wait until its tools were read and compared. What another process of the same server offers does not count. */
  get isHeld(): boolean {
    return this.isUp && this.#isHeld;
  }

  open(session: Session): void {
    this.#session = session;
    this.#isKnown = false;
    this.#isHeld = this.#pinChecking?.isStrict() === true;
    if (!this.#isHeld) this.#gate.open(session);
  }

  /** The server says that a list has changed. */
  doubt(list: ListName): void {
    if (list !== 'tools' || !this.isUp || this.#pinChecking?.isStrict() !== true) return;
    this.#isHeld = true;
    this.#gate.seal();
  }

  /** After a reading was compared. */
  listed(reading: Reading): void {
    if (this.#pinChecking === undefined || !('tools' in reading)) return;
    this.#isKnown = true;
    this.#release();
  }

  /** The pins have changed. False where the tools of this incarnation were never read, and have to be. */
  recheckPins(): boolean {
    const pinChecking = this.#pinChecking;
    if (pinChecking?.isStrict() !== true) {
      this.#release();
      return true;
    }
    this.#session?.withdraw((request) => pinChecking.refusalOf(request));
    // the gate was opened while pins were not enforced
    if (!this.#isKnown) this.doubt('tools');
    return this.#isKnown;
  }

  seal(): void {
    this.#session = undefined;
    this.#gate.seal();
  }

  #release(): void {
    const session = this.#session;
    // calls at the gate of a dead process wait for the next one
    if (session === undefined || !this.isUp || !this.#isHeld) return;
    this.#isHeld = false;
    this.#gate.open(session, (request, sink) =>
      refuse(this.#pinChecking, request, sink) ? undefined : session.send(request, sink),
    );
  }
}

/** Refuses a call that has waited, if it may not pass any more. Returns whether it did. */
export function refuse(pinChecking: PinChecking | undefined, request: CallRequest, sink: CallSink): boolean {
  const error = pinChecking?.isStrict() === true ? pinChecking.refusalOf(request) : undefined;
  if (error === undefined) return false;
  sink.settle({ ok: false, error });
  return true;
}
