import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** Filled, in a square of 16. */
const SHAPES = {
  up: 'M8 3l5 9H3z',
  down: 'M8 13L3 4h10z',
  right: 'M13 8L4 13V3z',
  close: 'M3.3 4.4l1.1-1.1L8 6.9l3.6-3.6 1.1 1.1L9.1 8l3.6 3.6-1.1 1.1L8 9.1l-3.6 3.6-1.1-1.1L6.9 8z',
  moon: 'M6.2 2a6.2 6.2 0 1 0 7.8 7.8A5.4 5.4 0 0 1 6.2 2z',
  sun: 'M8 4.8a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4zM7.4 1h1.2v2.4H7.4zM7.4 12.6h1.2V15H7.4zM1 7.4h2.4v1.2H1zM12.6 7.4H15v1.2h-2.4zM2.6 3.5l.9-.9 1.6 1.7-.8.8zM10.9 11.7l.8-.8 1.7 1.6-.9.9zM2.6 12.5l1.7-1.6.8.8-1.6 1.7zM10.9 4.3l1.6-1.7.9.9-1.7 1.6z',
  /** Half of it is filled. */
  both: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 2.9a5.1 5.1 0 0 0 0 10.2z',
} as const;

/** A sign that needs no font: those of many systems lack some, and draw others in colours. Screen readers skip it. */
export function Glyph({ shape }: { shape: keyof typeof SHAPES }): VNode {
  return html`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true"><path fill-rule="evenodd" d=${SHAPES[shape]} /></svg>`;
}
