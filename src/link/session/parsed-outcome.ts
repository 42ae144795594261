import type { JsonObject } from '../../shared/json.js';

/** A result that came in a line of this many bytes; undefined: as an object. */
export class ParsedOutcome {
  readonly ok = true;
  readonly result: JsonObject;
  /** The JSON of it, as it came; for a sink that accepts that. */
  readonly text: string | undefined;
  readonly #bytes: number | undefined;

  constructor(result: JsonObject, bytes: number | undefined, text: string | undefined) {
    this.result = result;
    this.#bytes = bytes;
    this.text = text;
  }

  get bytes(): number | undefined {
    return this.#bytes;
  }
}
