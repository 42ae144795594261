import type { CallContext, CallParams, ToolResult } from '../../fleet/fleet.js';
import { onAbort } from '../../shared/async.js';
import { CancelledError, type MCPError, MCPTimeoutError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { Separator } from '../../shared/mcp/separators.js';
import { seconds } from '../../shared/text/seconds.js';

export interface FanOutOptions {
  /** How many are under way at once; default: all of them. */
  concurrency?: number | undefined;
  /** How many successes are enough; then the others are cancelled. Default: none are, all are waited for. */
  enough?: number | undefined;
  /** For all of them together. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  caller?: string | undefined;
  separator?: Separator | undefined;
  /** Each result as it comes. */
  onResult?: ((index: number, result: ToolResult, total: number) => void) | undefined;
}

export interface FanOutPorts {
  clock: Clock;
  call(params: CallParams, context: CallContext): Promise<ToolResult>;
  /** The result of a call that was never begun. */
  refuse(params: CallParams, error: MCPError): ToolResult;
}

/**
 * Many calls at once; the results in the order of the calls, whatever becomes of each. No call waits for another, except
 * for its turn where `concurrency` is less than their number: a server that is slow or dead holds up its own calls.
 */
export function fanOut(
  calls: readonly CallParams[],
  options: FanOutOptions,
  ports: FanOutPorts,
): Promise<ToolResult[]> {
  return new FanOut(calls, options, ports).run();
}

class FanOut {
  readonly #calls: readonly CallParams[];
  readonly #options: FanOutOptions;
  readonly #ports: FanOutPorts;
  readonly #results: ToolResult[] = [];
  /** One for each call that is under way: a signal for a thousand listeners would be taken for a leak. */
  readonly #running = new Set<AbortController>();
  /** Why no more are wanted. */
  #over: { reason: unknown } | undefined;
  readonly #deadline: number;
  #next = 0;
  #successes = 0;

  constructor(calls: readonly CallParams[], options: FanOutOptions, ports: FanOutPorts) {
    this.#calls = calls;
    this.#options = options;
    this.#ports = ports;
    this.#deadline = ports.clock.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  }

  async run(): Promise<ToolResult[]> {
    const { signal, concurrency = Number.POSITIVE_INFINITY } = this.#options;
    const stopListening = onAbort(signal, () => this.#end(signal?.reason));
    const workers = Array.from({ length: Math.min(this.#calls.length, concurrency) }, () => this.#work());
    await Promise.all(workers);
    stopListening();
    return this.#results;
  }

  async #work(): Promise<void> {
    while (this.#next < this.#calls.length) {
      const index = this.#next;
      this.#next += 1;
      const result = await this.#callOne(this.#calls[index]!);
      this.#results[index] = result;
      this.#options.onResult?.(index, result, this.#calls.length);
      if (result.success) this.#successes += 1;
      if (this.#successes === this.#options.enough) {
        this.#end(new Error(`${this.#successes} of ${this.#calls.length} calls were enough`));
      }
    }
  }

  #end(reason: unknown): void {
    this.#over ??= { reason };
    for (const running of this.#running) running.abort(reason);
  }

  async #callOne(params: CallParams): Promise<ToolResult> {
    const { caller, separator } = this.#options;
    const leftMs = this.#deadline - this.#ports.clock.now();
    if (this.#over !== undefined) return this.#ports.refuse(params, notBegun(params, this.#over.reason));
    if (leftMs <= 0) return this.#ports.refuse(params, tooLate(params, this.#options.timeoutMs ?? 0));
    const timeout_ms = Math.min(params.timeout_ms ?? Number.POSITIVE_INFINITY, leftMs);
    const timed = timeout_ms === Number.POSITIVE_INFINITY ? params : { ...params, timeout_ms };
    const running = new AbortController();
    this.#running.add(running);
    try {
      return await this.#ports.call(timed, {
        signal: running.signal,
        ...(caller !== undefined && { caller }),
        ...(separator !== undefined && { separator }),
      });
    } finally {
      this.#running.delete(running);
    }
  }
}

function notBegun({ server }: CallParams, reason: unknown): MCPError {
  const why = reason instanceof Error ? reason.message : 'the calls were cancelled';
  return new CancelledError(`${server}: the call was cancelled: ${why}`, {
    why: 'it had not begun',
    fix: 'call it again, if it is still wanted',
  });
}

function tooLate({ server }: CallParams, timeoutMs: number): MCPError {
  return new MCPTimeoutError(`${server}: its turn did not come in the ${seconds(timeoutMs)} for all calls`, {
    retryable: true,
    why: 'it was not sent',
    fix: 'raise timeout_ms or concurrency, or make fewer calls at once',
  });
}
