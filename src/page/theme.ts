import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Glyph } from './parts/glyph.js';

type Theme = 'auto' | 'light' | 'dark';

const KEY = 'toolherd-theme';
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' };
const SIGN = { auto: 'both', light: 'sun', dark: 'moon' } as const;

/** The browser may refuse storage: then each page begins with `auto`. */
function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

const theme = signal<Theme>('auto');

export function applyTheme(chosen = stored()): void {
  theme.value = chosen;
  if (chosen === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function ThemeSwitch(): VNode {
  const change = () => {
    const next = NEXT[theme.value];
    applyTheme(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // it holds for this page only
    }
  };
  const name = theme.value === 'auto' ? 'as the system' : theme.value;
  return html`<button type="button" class="quiet icon" onClick=${change} aria-label=${`Theme: ${name}`}
    title=${`Theme: ${name}`}><${Glyph} shape=${SIGN[theme.value]} /></button>`;
}
