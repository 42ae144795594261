import type { ConfigProblem } from '../../fleet/fleet.js';

/** What an error of the daemon says beside its message. */
export interface ErrorFields {
  type?: string | undefined;
  why?: string | undefined;
  fix?: string | undefined;
  problems?: readonly ConfigProblem[] | undefined;
  /** All of `data` of the JSON-RPC error. */
  data?: Record<string, unknown> | undefined;
}

/** A request of the page that failed. */
export class FleetError extends Error {
  readonly type: string;
  readonly why: string | undefined;
  readonly fix: string | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly data: Record<string, unknown>;

  constructor(message: string, fields: ErrorFields = {}) {
    super(message);
    this.type = fields.type ?? 'Error';
    this.why = fields.why;
    this.fix = fields.fix;
    this.problems = fields.problems ?? [];
    this.data = fields.data ?? {};
  }

  static from({ message, data }: { message: string; data?: unknown }): FleetError {
    const fields = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
    const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined);
    const problems = Array.isArray(fields.problems) ? (fields.problems as ConfigProblem[]) : undefined;
    return new FleetError(message, {
      type: text('type'),
      why: text('why'),
      fix: text('fix'),
      problems,
      data: fields,
    });
  }

  /** Any thrown value as an error that the page can show. */
  static of(thrown: unknown): FleetError {
    if (thrown instanceof FleetError) return thrown;
    return new FleetError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}
