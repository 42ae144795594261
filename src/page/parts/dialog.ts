import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Question {
  title: string;
  /** What follows from it. */
  body: ComponentChildren;
  /** The word on the button: `Stop`. */
  action: string;
  tone?: 'primary' | 'danger';
}

const asked = signal<(Question & { answer(isYes: boolean): void }) | null>(null);

/** Asks before something changes. A second question answers the first with no. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    const one = {
      ...question,
      answer: (isYes: boolean) => {
        // a dialog tells that it closed when the next question may be asked already
        if (asked.value === one) asked.value = null;
        resolve(isYes);
      },
    };
    asked.value = one;
  });
}

/** Where the questions of `confirm` are shown. The browser's own dialog keeps the focus and closes with Escape. */
export function ConfirmHost(): VNode | null {
  const question = asked.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question === null) return;
    dialog.current?.showModal();
    // Enter does what was asked for, unless it interrupts something: then the focus is on Cancel
    dialog.current?.querySelector<HTMLButtonElement>('button.primary')?.focus();
  }, [question]);
  if (question === null) return null;
  const { title, body, action, tone = 'primary', answer } = question;
  const reply = (isYes: boolean) => {
    // a dialog that is closed, not only removed, gives the focus back
    dialog.current?.close();
    answer(isYes);
  };
  return html`
    <dialog ref=${dialog} class="confirm" aria-labelledby="confirm-title" onClose=${() => answer(false)}>
      <h2 id="confirm-title">${title}</h2>
      <div class="confirm-body">${body}</div>
      <div class="actions">
        <button type="button" class="quiet" onClick=${() => reply(false)}>Cancel</button>
        <button type="button" class=${tone} onClick=${() => reply(true)}>${action}</button>
      </div>
    </dialog>`;
}
