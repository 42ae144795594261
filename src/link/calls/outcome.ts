import type { RawJson } from '../../shared/framing/raw-json.js';
import type { JsonObject } from '../../shared/json.js';

/** The result of a reply that was parsed. */
export class ParsedOutcome {
  readonly ok = true;
  readonly result: JsonObject;
  /** The JSON text of the result as the server wrote it, for a sink that accepts it. */
  readonly text: string | undefined;
  readonly #bytes: number | undefined;

  /** `bytes`: the size of the line it came in; undefined where the reply came as an object. */
  constructor(result: JsonObject, bytes: number | undefined, text: string | undefined) {
    this.result = result;
    this.#bytes = bytes;
    this.text = text;
  }

  get bytes(): number | undefined {
    return this.#bytes;
  }
}

/** The result of a reply that was not parsed. It is parsed at the first read of `result`, once. */
export class RawOutcome {
  readonly ok = true;
  readonly raw: RawJson;
  /**
   * Whether the tool reports a failure, as far as the scan could see: a server must not be able to force a parse of its
   * result for this alone.
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
