import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function AgentsPage(): VNode {
  return html`<${Page} title="Agents"><${Empty} title="Nothing is here yet." /><//>`;
}
