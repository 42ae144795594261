import type { WireError } from '../../fleet/fleet.js';
import { MCPError, type RpcErrorObject } from '../../shared/call-errors.js';

/** The fields that only some errors have. */
interface MoreFields {
  rpc?: RpcErrorObject | undefined;
  problems?: WireError['problems'];
}

/** The same error without secrets in its texts. */
export function redactedError(error: MCPError, redact: (text: string) => string): MCPError {
  return new RedactedError(error, redact);
}

class RedactedError extends MCPError {
  override readonly type: string;
  /** The server's own error, unchanged, as its results are. */
  readonly rpc: RpcErrorObject | undefined;
  /** Their texts were redacted when the config was read. */
  readonly problems: WireError['problems'];

  constructor(error: MCPError & MoreFields, redact: (text: string) => string) {
    const { message, why, fix, retryable, sent } = error;
    super(redact(message), {
      why: why === undefined ? undefined : redact(why),
      fix: fix === undefined ? undefined : redact(fix),
      retryable,
      sent,
    });
    this.type = error.type;
    this.rpc = error.rpc;
    this.problems = error.problems;
  }
}
