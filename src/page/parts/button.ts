import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isLive } from '../live/store.js';

export interface ButtonProps {
  /** While its promise is open, the button is busy and takes no second click. */
  onClick(): unknown;
  children?: ComponentChildren;
  /** The accessible name, where the text alone is not enough: `Restart github`. */
  label?: string | undefined;
  tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  size?: 'small' | 'normal';
  disabled?: boolean;
  /** It asks nothing of the daemon, so it works without one. */
  isLocal?: boolean;
  title?: string | undefined;
}

export function Button({
  onClick,
  children,
  label,
  tone = 'plain',
  size = 'normal',
  disabled = false,
  isLocal = false,
  title,
}: ButtonProps): VNode {
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const { current } = element;
    return () => passFocusOn(current);
  }, []);
  const run = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await onClick();
    } finally {
      setBusy(false);
    }
  };
  // a busy button stays enabled for the focus: a dialog gives it back to the button
  const isOff = disabled || (!isLocal && !isLive.value);
  return html`
    <button ref=${element} type="button" class="${tone} ${size}" aria-label=${label} aria-busy=${isBusy} aria-disabled=${isBusy || undefined} title=${title}
      disabled=${isOff} onClick=${() => void run()}>${children}</button>`;
}

/** A button that disappears with the focus gives it to the first control that is left around it: `Stop` to `Start`. */
function passFocusOn(element: HTMLElement | null): void {
  if (element === null || document.activeElement !== element) return;
  const around: Element[] = [];
  for (let each = element.parentElement; each !== null; each = each.parentElement) around.push(each);
  // then what takes its place is there
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const [nearest] = around.filter((each) => each.isConnected && each.matches('.actions, .row-actions, tr'));
    const heir = nearest?.querySelector<HTMLElement>('button:enabled, a[href]');
    (heir ?? document.getElementById('page-title'))?.focus();
  });
}
