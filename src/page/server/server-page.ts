import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, Page } from '../parts/basics.js';

export function ServerPage({ name }: { name: string }): VNode {
  return html`<${Page} title=${name}><${Empty} title="Nothing is here yet." /><//>`;
}
