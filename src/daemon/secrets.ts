import type { ServerSpec } from '../config/fields/spec.js';
import { Redactor } from '../shared/secrets/redactor.js';

/** Takes secrets out of texts: of logs, errors, status and messages of servers. */
export class Secrets {
  /** A secret is never forgotten: a server that was removed from the config may still print its last lines. */
  readonly #configured = new Redactor();
  #redactTokens: (text: string) => string = (text) => text;

  /** Adds the secrets of a config that was read. */
  learn(more: Redactor): void {
    this.#configured.learn(more);
  }

  /** Sets what takes the tokens of remote servers out of a text. */
  useTokens(redact: (text: string) => string): void {
    this.#redactTokens = redact;
  }

  /** Redacts every string of a JSON-like value. */
  redact<T>(value: T): T {
    return this.#configured.redactDeep(value);
  }

  /** Redacts a line of the logs. */
  redactLine(line: string): string {
    return this.redact(this.#redactTokens(line));
  }

  /** Redacts a line of a server: the line may also repeat values of the server's environment and headers. */
  redactLineOf(spec: ServerSpec, line: string): string {
    return this.redact(declaredIn(spec).redact(this.#redactTokens(line)));
  }

  redactValueOf<T>(spec: ServerSpec, value: T): T {
    return this.redact(declaredIn(spec).redactDeep(value));
  }
}

/** One redactor for each spec: making one takes longer than using it. */
const declared = new WeakMap<ServerSpec, Redactor>();

function declaredIn(spec: ServerSpec): Redactor {
  const known = declared.get(spec) ?? Redactor.of({ ...spec.env, ...('headers' in spec && spec.headers) });
  declared.set(spec, known);
  return known;
}
