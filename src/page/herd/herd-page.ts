import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function HerdPage(): VNode {
  return html`<${Page} title="Herd"><${Empty} title="Nothing is here yet." /><//>`;
}
