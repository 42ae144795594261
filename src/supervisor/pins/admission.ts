import type { MCPError } from '../../link/errors.js';
import type { CallRequest } from '../../link/session/call.js';
import type { Session } from '../../link/session/session.js';
import type { Gate } from '../gate.js';
import type { ListName, Reading } from '../lists.js';
import { type RoutedSink, route } from '../routed-sink.js';

export interface Vetting {
  /** Whether nothing may be called before it was compared. */
  isStrict(): boolean;
  /** By what is known now; undefined where it may go. */
  refusalOf(request: CallRequest): MCPError | undefined;
}

/**
 * Opens and seals a gate as the machine says. With `enforce` an incarnation takes calls only when its tools were read
 * and compared, and not while it says that they have changed: calls wait at the gate meanwhile, and of those that
 * waited only what may still be called goes on. Any new process may be another version of its program.
 */
export class Admission {
  readonly #gate: Gate;
  readonly #vetting: Vetting | undefined;
  #session: Session | undefined;
  #isHeld = false;

  constructor(gate: Gate, vetting: Vetting | undefined) {
    this.#gate = gate;
    this.#vetting = vetting;
  }

  /** It has shaken hands and lives, whether it is let in yet or not. */
  get isUp(): boolean {
    return this.#session?.state === 'open';
  }

  open(session: Session): void {
    this.#session = session;
    this.#isHeld = this.#vetting?.isStrict() === true;
    if (!this.#isHeld) this.#gate.open(session);
  }

  /** The server says that a list is not what it was. */
  doubt(list: ListName): void {
    if (list !== 'tools' || !this.isUp || this.#vetting?.isStrict() !== true) return;
    this.#isHeld = true;
    this.#gate.seal();
  }

  /** After a reading was compared. */
  listed(reading: Reading): void {
    const session = this.#session;
    if (session === undefined || this.#vetting === undefined || !('tools' in reading)) return;
    const refusalOf = (request: CallRequest) => this.#vetting?.refusalOf(request);
    if (this.#vetting.isStrict()) session.withdraw(refusalOf);
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#gate.open(session, (request, sink) => letIn(session, request, sink, refusalOf(request)));
  }

  seal(): void {
    this.#session = undefined;
    this.#gate.seal();
  }
}

function letIn(session: Session, request: CallRequest, sink: RoutedSink, refusal: MCPError | undefined) {
  if (refusal === undefined) return route(session, request, sink);
  sink.settle({ ok: false, error: refusal });
  return undefined;
}
