import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
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
    <button type="button" class="${tone} ${size}" aria-label=${label} aria-busy=${isBusy} aria-disabled=${isBusy || undefined} title=${title}
      disabled=${isOff} onClick=${() => void run()}>${children}</button>`;
}
