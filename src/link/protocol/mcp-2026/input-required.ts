import { onAbort } from '../../../shared/async.js';
import { MCPError, MCPProtocolError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { messageOf } from '../../../shared/errors.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import type { Call } from '../../calls/call.js';
import { answerFor, type RequestPorts } from '../server-requests.js';

/** A server that still asks after this many rounds never ends. */
const MOST_ROUNDS = 10;
/** More questions at a time than any agent would answer. */
const MOST_REQUESTS = 100;
/** The delay for a server that asks for nothing but another try: it works on the call meanwhile. */
const PACE_MS = 1000;

interface InputRequest {
  method: string;
  params: JsonObject | undefined;
}

/** Answers the questions of an `input_required` result: the agent that made the call is asked. */
export class InputRequired {
  readonly #ports: RequestPorts;
  readonly #clock: Clock;
  readonly #rounds = new WeakMap<Call, number>();

  constructor(ports: RequestPorts, clock: Clock) {
    this.#ports = ports;
    this.#clock = clock;
  }

  /** Resolves with what is added to the params of the next try; rejects with the error of the call. */
  async answer(call: Call, result: JsonObject): Promise<JsonObject> {
    const round = (this.#rounds.get(call) ?? 0) + 1;
    this.#rounds.set(call, round);
    if (round > MOST_ROUNDS) throw this.#wrong(call, `it asked for more ${MOST_ROUNDS} times already`);
    const { requestState } = result;
    const requests = this.#read(call, result);
    if (requests.length === 0) await this.#pace(call);
    const inputResponses = requests.length === 0 ? {} : { inputResponses: await this.#ask(call, requests) };
    return { ...inputResponses, ...(requestState === undefined ? {} : { requestState }) };
  }

  #read(call: Call, { inputRequests = {}, requestState }: JsonObject): [string, InputRequest][] {
    if (!isObject(inputRequests)) throw this.#wrong(call, 'its input requests are no object');
    const entries = Object.entries(inputRequests);
    if (entries.length > MOST_REQUESTS) {
      throw this.#wrong(call, `it asks for ${entries.length} things at a time`);
    }
    const requests = entries.map(([key, request]): [string, InputRequest] => {
      if (!isObject(request) || typeof request.method !== 'string') {
        throw this.#wrong(call, `its input request '${key}' has no method`);
      }
      return [key, { method: request.method, params: isObject(request.params) ? request.params : undefined }];
    });
    if (requests.length === 0 && typeof requestState !== 'string') {
      throw this.#wrong(call, 'it wants input and does not say which');
    }
    return requests;
  }

  async #ask(call: Call, requests: readonly [string, InputRequest][]): Promise<JsonObject> {
    const round = new AbortController();
    const answers = requests.map(async ([key, { method, params }]) => {
      try {
        return [key, await answerFor(this.#ports, () => [call], method, params, round.signal)] as const;
      } catch (error) {
        // without this answer the others are useless
        round.abort(error);
        throw this.#unanswered(call, method, params, error);
      }
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  #pace(call: Call): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(resolve, PACE_MS);
      onAbort(call.ended, () => this.#clock.clearTimeout(timer));
    });
  }

  #unanswered(call: Call, method: string, params: JsonObject | undefined, error: unknown): MCPError {
    if (error instanceof MCPError) return error;
    const { name } = this.#ports;
    const question = typeof params?.message === 'string' ? ` ("${params.message.slice(0, 200)}")` : '';
    return new MCPProtocolError(
      `${name}: ${call.method} waits for ${method}${question}, which was not answered`,
      {
        sent: true,
        why: messageOf(error),
        fix: 'call it from an agent that can answer',
        cause: error,
      },
    );
  }

  #wrong(call: Call, why: string): MCPProtocolError {
    const { name } = this.#ports;
    const message = `${name}: the reply to ${call.method} is unusable: ${why}`;
    return new MCPProtocolError(message, { sent: true, fix: `see "toolherd logs ${shellWord(name)}"` });
  }
}
