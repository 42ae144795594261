import type { RawJson } from '../../../shared/framing/raw-json.js';
import type { JsonObject } from '../../../shared/json.js';

/** A result that was not looked into. Parsed when somebody does, and once. */
export class RawOutcome {
  readonly ok = true;
  readonly raw: RawJson;
  /**
   * Whether the tool says that it failed, as far as it is known: a server must not be able to have its result parsed for
   * this alone.
   */
  readonly isError: boolean;
  #result: JsonObject | undefined;

  constructor(raw: RawJson, isError: boolean | undefined) {
    this.raw = raw;
    this.isError = isError ?? false;
  }

  get result(): JsonObject {
    this.#result ??= this.raw.parse();
    return this.#result;
  }

  get bytes(): number {
    return this.raw.bytes;
  }
}
