import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function ConfigPage(): VNode {
  return html`<${Page} title="Config"><${Empty} title="Nothing is here yet." /><//>`;
}
