import type { MCPError } from '../../shared/call-errors.js';
import type { JsonObject } from '../../shared/json.js';
import type { Call } from './call.js';

/** Resolves with what is added to the params of the next try; rejects with the call's error. */
export type AnswerInput = (call: Call, result: JsonObject) => Promise<JsonObject>;

export interface InputRetryPorts {
  /** Sends the call again, under a new id, with these params. */
  resend(call: Call, params: JsonObject): void;
  fail(call: Call, error: MCPError): void;
}

/**
 * Calls whose server answered with `input_required` (2026-07-28). Each is `awaiting input` until its agent has answered,
 * and is then sent once more: the second try that the protocol defines.
 */
export class InputRetries {
  readonly #ports: InputRetryPorts;
  readonly #awaiting = new Set<Call>();

  constructor(ports: InputRetryPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#awaiting.size;
  }

  all(): Iterable<Call> {
    return this.#awaiting;
  }

  /** The server owes this call no reply any more: it was taken from those in flight. */
  begin(call: Call, result: JsonObject, answer: AnswerInput): void {
    call.state = 'awaiting input';
    this.#awaiting.add(call);
    call.hold();
    answer(call, result).then(
      (added) => this.#retry(call, { ...call.params, ...added }),
      (error: MCPError) => this.#ports.fail(call, error),
    );
  }

  /** The call is settled. */
  delete(call: Call): void {
    this.#awaiting.delete(call);
  }

  #retry(call: Call, params: JsonObject): void {
    if (!this.#awaiting.delete(call)) return;
    call.release();
    this.#ports.resend(call, params);
  }
}
