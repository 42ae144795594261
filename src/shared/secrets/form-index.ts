import { LEAST_SECRET_LENGTH } from './secret-name.js';

/** A part of a text to redact, and the form of a secret with which it begins. */
export interface Found {
  from: number;
  to: number;
  form: string;
}

/** With more forms than this, the larger table is worth its memory. */
const FEW_FORMS = 400;

/**
 * Finds many strings in a text in one pass, so that the cost does not depend on their number: a config may have thousands of
 * secrets, and every line of every log is searched. A table says for the last three or four characters whether a
 * string may begin with them.
 */
export class FormIndex {
  readonly #forms: Set<string>;
  /** The lengths of the forms that begin so, the longest first. */
  readonly #lengths = new Map<string, number[]>();
  readonly #mask: number;
  readonly #window: number;
  readonly #mayBegin: Uint8Array;

  /** Each form has at least LEAST_SECRET_LENGTH characters. */
  constructor(forms: Iterable<string>) {
    this.#forms = new Set(forms);
    const isSmall = this.#forms.size <= FEW_FORMS;
    this.#window = isSmall ? 3 : 4;
    this.#mask = isSmall ? 0xfff : 0xffff;
    this.#mayBegin = new Uint8Array(this.#mask + 1);
    for (const form of this.#forms) this.#insert(form);
    for (const lengths of this.#lengths.values()) lengths.sort((a, b) => b - a);
  }

  /** The parts to redact, in order. Forms that overlap are one part: no rest of one of them stays. */
  find(text: string): Found[] {
    const found: Found[] = [];
    let last: Found | undefined;
    // read once: this loop sees every character of every log
    const mask = this.#mask;
    const mayBegin = this.#mayBegin;
    let hash = 0;
    for (let at = 0; at < text.length; at += 1) {
      // the mask drops the characters before the window
      hash = ((hash << 4) ^ text.charCodeAt(at)) & mask;
      if (mayBegin[hash] === 0) continue;
      const from = at + 1 - this.#window;
      const form = from < 0 ? undefined : this.#longestAt(text, from);
      if (form === undefined) continue;
      const to = from + form.length;
      if (last === undefined || from >= last.to) found.push((last = { from, to, form }));
      else last.to = Math.max(last.to, to);
    }
    return found;
  }

  #insert(form: string): void {
    let hash = 0;
    for (let at = 0; at < this.#window; at += 1) hash = ((hash << 4) ^ form.charCodeAt(at)) & this.#mask;
    this.#mayBegin[hash] = 1;
    const beginning = form.slice(0, LEAST_SECRET_LENGTH);
    const lengths = this.#lengths.get(beginning);
    if (lengths === undefined) this.#lengths.set(beginning, [form.length]);
    else if (!lengths.includes(form.length)) lengths.push(form.length);
  }

  #longestAt(text: string, from: number): string | undefined {
    const lengths = this.#lengths.get(text.slice(from, from + LEAST_SECRET_LENGTH));
    if (lengths === undefined) return undefined;
    for (const length of lengths) {
      const form = text.slice(from, from + length);
      if (this.#forms.has(form)) return form;
    }
    return undefined;
  }
}
