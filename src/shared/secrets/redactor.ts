import { FormIndex } from './form-index.js';
import { commonForms, encodedForms } from './secret-forms.js';
import { LEAST_SECRET_LENGTH } from './secret-name.js';

/**
 * Replaces every secret value in texts for people: logs, errors, status, inspect. One redactor serves a whole herd. A
 * value becomes `[redacted:NAME]`, so the reader still sees which value it was.
 */

/** Variables that describe the machine and are no secrets; redacting them would only make paths unreadable. */
const PUBLIC = /^(HOME|USER|LOGNAME|PWD|OLDPWD|SHELL|PATH|LANG|LC_.*|TERM|TMPDIR|TZ|XDG_.*|HOSTNAME|EDITOR)$/;

/** A server may nest its data deeper than the stack of a recursive function is. */
const MAX_DEPTH = 500;
const TOO_DEEP = '(nested too deep to be shown)';

/** So many texts are known in every encoding, the others in the common ones: each text then takes about 1 kB. */
const MOST_ENCODED = 2000;

export class Redactor {
  readonly #labels = new Map<string, string>();
  #encoded = 0;
  #index: FormIndex | undefined;

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
    for (const text of new Set([value, value.trim(), ...lines, credentials ?? ''])) {
      if (text.length < LEAST_SECRET_LENGTH || this.#labels.has(text)) continue;
      for (const form of commonForms(text)) this.#put(form, name);
      if (this.#encoded >= MOST_ENCODED) continue;
      this.#encoded += 1;
      for (const form of encodedForms(text)) this.#put(form, name);
    }
  }

  /** Adds every value of another redactor. */
  learn(other: Redactor): void {
    for (const [form, name] of other.#labels) this.#put(form, name);
  }

  redact(text: string): string {
    if (this.#labels.size === 0 || text.length < LEAST_SECRET_LENGTH) return text;
    this.#index ??= new FormIndex(this.#labels.keys());
    let result = '';
    let done = 0;
    for (const { from, to, form } of this.#index.find(text)) {
      result += `${text.slice(done, from)}[redacted:${this.#labels.get(form)}]`;
      done = to;
    }
    return done === 0 ? text : result + text.slice(done);
  }

  #put(form: string, name: string): void {
    if (form.length < LEAST_SECRET_LENGTH || this.#labels.has(form)) return;
    this.#labels.set(form, name);
    this.#index = undefined;
  }

  /** Redacts every string of a JSON-like value, keys included. */
  redactDeep<T>(value: T): T {
    return this.#walk(value) as T;
  }

  #walk(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return TOO_DEEP;
    if (Array.isArray(value)) return value.map((item) => this.#walk(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.redact(key), this.#walk(item, depth + 1)]),
    );
  }
}
