/**
 * The one error base. `type` is the name that goes over the wire and into messages; `why` and `fix` are for the
 * person who reads it. Names follow docs/PROTOCOL.md, so scripts can branch on `type` without importing a class.
 */
export interface ErrorDetails {
  /** The cause in a sentence, where the message does not tell it. */
  why?: string | undefined;
  /** The next step for the person who reads this. */
  fix?: string | undefined;
  retryable?: boolean | undefined;
  sent?: boolean | undefined;
  code?: number | undefined;
  data?: unknown;
  cause?: unknown;
}

export class ToolherdError extends Error {
  readonly type: string = 'ToolherdError';
  readonly why: string | undefined;
  readonly fix: string | undefined;
  /**
   * A repeat may succeed and cannot run anything twice. What was sent is never `retryable`, so that a script which looks at
   * nothing else is safe.
   */
  readonly retryable: boolean;
  /** Bytes of the request may have reached the server, so the tool may have run. */
  readonly sent: boolean;
  /** The code of the JSON-RPC error that this was made of. */
  readonly code: number | undefined;
  /** Its data, as the other side sent it. */
  readonly data: unknown;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.why = details.why;
    this.fix = details.fix;
    this.sent = details.sent ?? false;
    this.retryable = !this.sent && (details.retryable ?? false);
    this.code = details.code;
    this.data = details.data;
  }

  override get name(): string {
    return this.type;
  }
}

/** The text of what was thrown, be it an error or not. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The code of an error of Node or of a library: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error);
  return code !== undefined && codes.includes(code);
}
