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
    asked.value = {
      ...question,
      answer: (isYes) => {
        asked.value = null;
        resolve(isYes);
      },
    };
  });
}

/** Where the questions of `confirm` are shown. The browser's own dialog keeps the focus and closes with Escape. */
export function ConfirmHost(): VNode | null {
  const question = asked.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question !== null) dialog.current?.showModal();
  }, [question]);
  if (question === null) return null;
  const { title, body, action, tone = 'primary', answer } = question;
  return html`
    <dialog ref=${dialog} class="confirm" aria-labelledby="confirm-title" onClose=${() => answer(false)}>
      <h2 id="confirm-title">${title}</h2>
      <div class="confirm-body">${body}</div>
      <div class="actions">
        <button type="button" class="quiet" autofocus onClick=${() => answer(false)}>Cancel</button>
        <button type="button" class=${tone} onClick=${() => answer(true)}>${action}</button>
      </div>
    </dialog>`;
}
