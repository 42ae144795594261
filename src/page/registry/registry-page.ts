import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function RegistryPage(): VNode {
  return html`<${Page} title="Registry"><${Empty} title="Nothing is here yet." /><//>`;
}
