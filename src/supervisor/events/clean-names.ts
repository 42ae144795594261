/** Longer texts are not shown, because they are no names. */
const LONGEST = 256;
const MOST_REMEMBERED = 4096;
/** How long a name may be taken for harmless after it has become a secret. */
const TRUSTED_MS = 1000;
const LONGEST_ARGUMENT = 32;

/**
 * What looks like the name of an argument. Where an object is used as a map its keys are data, and data may be a secret:
 * long ones, those with many digits, paths, addresses and sentences are not shown.
 */
const ARGUMENT = /^(?!__proto__$)(?!(?:\D*\d){5})[A-Za-z_$@][\w.$-]*$/;

/**
 * Names as they may be written down, as JSON: without secrets, and of a bounded length. The same few come again and
 * again, so that each is looked at once in a while and not for every call.
 */
export class CleanNames {
  readonly #redact: (text: string) => string;
  readonly #known = new Map<string, string>();
  readonly #arguments = new Map<string, string>();
  #since = Number.NEGATIVE_INFINITY;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Call it now and then: a harmless name may have become a secret. True when all names are checked again. */
  tick(now: number): boolean {
    if (now - this.#since < TRUSTED_MS) return false;
    this.#since = now;
    this.#known.clear();
    this.#arguments.clear();
    return true;
  }

  /** Of an argument; empty where it may be more than a name. */
  argument(name: string): string {
    const known = this.#arguments.get(name);
    if (known !== undefined) return known;
    if (name.length > LONGEST_ARGUMENT || !ARGUMENT.test(name)) return '';
    const fresh = this.json(name);
    if (this.#arguments.size < MOST_REMEMBERED) this.#arguments.set(name, fresh);
    return fresh;
  }

  json(name: string | null | undefined): string {
    if (name === null || name === undefined) return 'null';
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const isShown = name.length <= LONGEST;
    const fresh = JSON.stringify(isShown ? this.#redact(name) : `(${name.length} characters)`);
    if (isShown && this.#known.size < MOST_REMEMBERED) this.#known.set(name, fresh);
    return fresh;
  }
}
