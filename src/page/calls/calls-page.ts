import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function CallsPage(): VNode {
  return html`<${Page} title="Calls"><${Empty} title="Nothing is here yet." /><//>`;
}
