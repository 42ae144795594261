import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { FleetError } from '../live/fleet-error.js';
import type { Tone } from '../text/server-state.js';
import { Glyph } from './glyph.js';

interface Toast {
  id: number;
  tone: Tone;
  text: string;
  more: string | undefined;
}

const SHOWN_MS = 6000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says what an action did. Screen readers read it; an error stays until it is dismissed. */
export function say(text: string, tone: Tone = 'good', more?: string): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(1 - MOST), { id, tone, text, more }];
  if (tone !== 'bad') setTimeout(() => dismiss(id), SHOWN_MS);
}

export function sayError(thrown: unknown, doing: string): void {
  const { message, why, fix } = FleetError.of(thrown);
  say(`${doing} failed: ${message}`, 'bad', [why, fix && `Fix: ${fix}`].filter(Boolean).join('\n'));
}

/** Runs an action, and says what it did or why it failed. */
export async function act<Result>(
  doing: string,
  run: () => Promise<Result>,
  done: (result: Result) => string,
): Promise<Result | undefined> {
  try {
    const result = await run();
    say(done(result));
    return result;
  } catch (error) {
    sayError(error, doing);
    return undefined;
  }
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts(): VNode {
  return html`
    <div class="toasts" role="status" aria-live="polite" aria-label="What happened">
      ${toasts.value.map(
        ({ id, tone, text, more }) => html`
          <div class="toast ${tone}" key=${id}>
            <div><p>${text}</p>${more && html`<p class="pre muted">${more}</p>`}</div>
            <button type="button" class="quiet small" aria-label="Dismiss" onClick=${() => dismiss(id)}><${Glyph} shape="close" /></button>
          </div>`,
      )}
    </div>`;
}
