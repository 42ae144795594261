import type { McpResult } from '../../fleet/fleet.js';
import type { CallHandle, CallRequest, Outcome } from '../../link/session/call.js';
import { CancelledError, MCPError, type MCPProtocolError, type RpcError } from '../../shared/call-errors.js';
import type { RawJson } from '../../shared/framing/raw-json.js';
import { reasonOf } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { toWireError } from './tool-result.js';
import type { RecordedContext } from './unserved-request.js';

export interface SendOptions {
  redact(text: string, of: ConfiguredServer): string;
  /** Says it better than the session, which does not know what was asked for. */
  explain?: ((error: MCPError) => MCPError) | undefined;
}

/** One request to a server, and its result as it came. Rejects with a typed error that has no secrets in it. */
export function sendToServer(
  server: ConfiguredServer,
  request: CallRequest,
  { signal, onProgress, onRequest, caller, unserved, ...context }: RecordedContext,
  { redact, explain = (error) => error }: SendOptions,
): Promise<McpResult> {
  return new Promise((resolve, reject) => {
    // what has to be cut has to be read
    const acceptsRaw = context.acceptsRaw && server.spec.resultLimit === 0;
    let handle: CallHandle | undefined;
    const abort = () => handle?.cancel(reasonOf(signal));
    const settle = (outcome: Outcome) => {
      signal?.removeEventListener('abort', abort);
      if (outcome.ok) resolve(outcome.raw === undefined ? outcome.result : asResult(outcome.raw));
      else reject(redactedError(explain(outcome.error), (text) => redact(text, server)));
    };
    if (signal?.aborted) {
      const reason = reasonOf(signal) ?? 'before it began';
      const message = `${server.spec.name}: the call was cancelled: ${reason}`;
      settle({ ok: false, error: new CancelledError(message) });
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    const sink = { settle, progress: onProgress, ask: onRequest, acceptsRaw };
    if (unserved !== undefined) unserved.isTaken = true;
    handle = server.call({ ...request, caller }, sink);
  });
}

/** Whoever said that it accepts this knows that it may be one. */
function asResult(raw: RawJson): McpResult {
  return raw as object as McpResult;
}

/** The same error with no secrets in it. */
export function redactedError(error: MCPError, redact: (text: string) => string): MCPError {
  return new ToldError(toWireError(error, redact), (error as Partial<MCPProtocolError>).rpc);
}

/** An error in the words in which it may be told. */
class ToldError extends MCPError {
  override readonly type: string;
  /** The server's own, unchanged, as its results are. */
  readonly rpc: RpcError | undefined;

  constructor({ type, message, ...details }: ReturnType<typeof toWireError>, rpc: RpcError | undefined) {
    super(message, details);
    this.type = type;
    this.rpc = rpc;
  }
}
