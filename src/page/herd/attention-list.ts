import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { FleetStatus, ServerStatus } from '../../fleet/fleet.js';
import { now } from '../live/store.js';
import { authorize } from '../parts/authorize.js';
import { Ago, Section, StateBadge, Until } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { giveOrder } from '../parts/orders.js';
import { href } from '../parts/route.js';
import { type Attention, attentionOf, type Help } from './attention.js';

const SHOWN_LINES = 6;

/** What needs a person, with the cause and what helps. Nothing where nothing does. */
export function AttentionList({ status }: { status: FleetStatus }): VNode | null {
  const found = attentionOf(status, now.value);
  if (found.length === 0) return null;
  return html`
    <${Section} title="Needs attention" class="attention">
      <ul>${found.map((one) => html`<${Item} key=${one.key} one=${one} />`)}</ul>
    <//>`;
}

function Item({ one }: { one: Attention }): VNode {
  const { server, tone, what, why, fix, nextTry, help } = one;
  return html`
    <li class="matter ${tone}">
      <div class="matter-text">
        <p class="matter-head">
          ${
            server === null
              ? html`<strong>The daemon</strong>`
              : html`<a class="name" href=${href('server', [server.name])}>${server.name}</a> <${StateBadge} server=${server} />
                <span class="muted">for <${Ago} at=${server.since} isBare /></span>`
          }
        </p>
        <p>${what}${nextTry && html` <span class="next">Next try <${Until} at=${nextTry} />.</span>`}</p>
        ${why && html`<p class="why pre">${firstLines(why)}</p>`}
        ${fix && html`<p class="fix"><span class="muted">Fix:</span> ${fix}</p>`}
      </div>
      <div class="actions">${help.map((each) => html`<${HelpButton} key=${each.text} help=${each} server=${server} />`)}</div>
    </li>`;
}

/** The page of the server has the rest. */
function firstLines(text: string): string {
  const lines = text.split('\n');
  return lines.length > SHOWN_LINES ? `${lines.slice(0, SHOWN_LINES).join('\n')}\n…` : text;
}

function HelpButton({ help, server }: { help: Help; server: ServerStatus | null }): VNode {
  if (help.kind === 'go')
    return html`<a class="button small" href=${href(help.page, help.rest, { tab: help.tab })}>${help.text}</a>`;
  const run = () => (help.kind === 'order' ? giveOrder(help.order, server!) : authorize(server!.name));
  return html`<${Button} size="small" label=${`${help.text} ${server!.name}`} onClick=${run}>${help.text}<//>`;
}
