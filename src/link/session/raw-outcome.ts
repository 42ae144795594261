import type { RawJson } from '../../framing/raw-json.js';
import type { JsonObject } from './message.js';

/** A result that was not looked into. Parsed when somebody does, and once. */
export class RawOutcome {
  readonly ok = true;
  readonly raw: RawJson;
  #result: JsonObject | undefined;

  constructor(raw: RawJson) {
    this.raw = raw;
  }

  get result(): JsonObject {
    this.#result ??= this.raw.parse();
    return this.#result;
  }
}
