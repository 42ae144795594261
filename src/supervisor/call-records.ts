import type { CallEvent, Caller } from '../ipc/fleet.js';
import type { Clock } from '../link/clock.js';
import { callText, type EndedCall } from './call-event.js';
import { CleanNames } from './clean-names.js';

export interface CallRecordOptions {
  clock: Clock;
  /** Whose herd it is, where it is one agent's alone. */
  agent?: string | undefined;
  /** Who is behind a name; default, and where nobody is: the program that has the herd in its own process. */
  callerOf?(caller: string): Caller | undefined;
  /** Writes it down: the JSON of a `CallEvent`. */
  audit?(record: string): void;
  /** Hears of bugs. */
  warn?(text: string): void;
  redact<T>(value: T): T;
}

/** Tells of a call to whoever wants to hear of it. */
export type TellCall = (describe: () => CallEvent) => void;

interface Ended {
  server: string;
  call: EndedCall;
  tell: TellCall;
}

/**
 * What is to be known of every request to the herd when it has ended. It is written down when the turn of the loop in
 * which it ended is over and its reply is on its way: nobody waits for it.
 */
export class CallRecords {
  readonly #options: CallRecordOptions;
  readonly #own: Caller;
  readonly #names: CleanNames;
  #ended: Ended[] = [];
  #atMs = Number.NaN;
  #at = '';

  constructor(options: CallRecordOptions) {
    this.#options = options;
    this.#names = new CleanNames((text) => options.redact(text));
    this.#own = { via: 'library', client: null, agent: options.agent ?? null };
  }

  add(server: string, call: EndedCall, tell: TellCall): void {
    if (this.#ended.length === 0) setImmediate(this.flush);
    this.#ended.push({ server, call, tell });
  }

  /** Writes down what has ended; to be asked for by whoever ends it all. */
  readonly flush = (): void => {
    const ended = this.#ended;
    this.#ended = [];
    for (const one of ended) this.#guarded(one);
  };

  /** Nobody waits for it, so nobody would hear of it: what is thrown here would end the process. */
  #guarded(one: Ended): void {
    try {
      this.#record(one);
    } catch (error) {
      // its message may have something in it that was asked or answered
      const { name } = error as Error;
      this.#options.warn?.(`a fault in toolherd itself: a call of ${one.server} was not recorded: ${name}`);
    }
  }

  #record({ server, call, tell }: Ended): void {
    const { audit } = this.#options;
    let text = audit && this.#textOf(server, call);
    if (text !== undefined) audit?.(text);
    tell(() => {
      text ??= this.#textOf(server, call);
      return JSON.parse(text) as CallEvent;
    });
  }

  #textOf(server: string, call: EndedCall): string {
    const { caller } = call.request;
    const from = caller === undefined ? undefined : this.#options.callerOf?.(caller);
    return callText(server, call, { from: from ?? this.#own, at: this.#now(), names: this.#names });
  }

  /** Calls come by the dozen in a millisecond, and a date takes as long to write as all the rest. */
  #now(): string {
    const ms = Math.floor(this.#options.clock.now());
    if (ms !== this.#atMs) {
      this.#atMs = ms;
      this.#at = new Date(ms).toISOString();
      this.#names.tick(ms);
    }
    return this.#at;
  }
}
