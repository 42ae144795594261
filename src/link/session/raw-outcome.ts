import type { RawJson } from '../../framing/raw-json.js';
import type { JsonObject } from './message.js';

/** A result that was not looked into. Parsed when somebody does, and once. */
export class RawOutcome {
  readonly ok = true;
  readonly raw: RawJson;
  readonly #isError: boolean | undefined;
  #result: JsonObject | undefined;

  /** `isError`: as far as it is known. */
  constructor(raw: RawJson, isError: boolean | undefined) {
    this.raw = raw;
    this.#isError = isError;
  }

  get result(): JsonObject {
    this.#result ??= this.raw.parse();
    return this.#result;
  }

  /** Whether the tool says that it failed. */
  get isError(): boolean {
    return this.#isError ?? this.result.isError === true;
  }

  get bytes(): number {
    return this.raw.bytes;
  }
}
