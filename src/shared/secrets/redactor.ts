import { LEAST_SECRET_LENGTH } from './secret-name.js';

/**
 * Replaces every secret value in texts for people: logs, errors, status, inspect. One redactor serves a whole herd. A
 * value becomes `[redacted:NAME]`, so the reader still sees which value it was.
 */

/** Variables that describe the machine and are no secrets; redacting them would only make paths unreadable. */
const PUBLIC = /^(HOME|USER|LOGNAME|PWD|OLDPWD|SHELL|PATH|LANG|LC_.*|TERM|TMPDIR|TZ|XDG_.*|HOSTNAME|EDITOR)$/;

export class Redactor {
  readonly #labels = new Map<string, string>();
  #longestFirst: string[] | undefined;

  /** A redactor of all these values. It is used for the output of one server, where any of its values may be secret. */
  static of(values: Readonly<Record<string, string>>): Redactor {
    const redactor = new Redactor();
    for (const [name, value] of Object.entries(values)) redactor.add(name, value);
    return redactor;
  }

  /** Adds a value and the name that is shown instead of it. */
  add(name: string, value: string): void {
    if (PUBLIC.test(name)) return;
    const lines = value.includes('\n') ? value.split(/\r?\n/) : [];
    const credentials = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value)?.[1];
    for (const text of [value, value.trim(), ...lines, credentials ?? '']) {
      for (const form of [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(toWellFormed(text))]) {
        if (form.length < LEAST_SECRET_LENGTH || this.#labels.has(form)) continue;
        this.#labels.set(form, name);
        this.#longestFirst = undefined;
      }
    }
  }

  /** Adds every value of another redactor. */
  learn(other: Redactor): void {
    for (const [form, name] of other.#labels) {
      if (this.#labels.has(form)) continue;
      this.#labels.set(form, name);
      this.#longestFirst = undefined;
    }
  }

  redact(text: string): string {
    this.#longestFirst ??= [...this.#labels.keys()].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#longestFirst) {
      if (result.includes(secret))
        result = result.replaceAll(secret, () => `[redacted:${this.#labels.get(secret)}]`);
    }
    return result;
  }

  /** Redacts every string of a JSON-like value, keys included. */
  redactDeep<T>(value: T): T {
    return this.#walk(value) as T;
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.redact(key), this.#walk(item)]),
    );
  }
}

/** encodeURIComponent throws on a lone surrogate. */
function toWellFormed(text: string): string {
  return text.replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
