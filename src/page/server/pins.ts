import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { PinReport, ServerPins, ToolPin } from '../../fleet/fleet.js';
import { pinDiff } from '../../fleet/texts/pin-diff.js';
import { escapeInvisible } from '../../shared/text/control-characters.js';
import { refreshSoon, request } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { Ago, AsOf, Empty, ErrorBox, Loading, Pill, Section } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { act, say } from '../parts/toast.js';
import { plural } from '../text/format.js';
import { useRefresh } from './use-refresh.js';

const POLICIES: Readonly<Record<PinReport['policy'], string>> = {
  off: "security.pin is 'off': nothing is compared.",
  warn: "security.pin is 'warn': a tool that differs from its pin is listed and can be called.",
  enforce: "security.pin is 'enforce': a tool that differs from its pin is blocked.",
};

/** The tools of a server whose definitions have changed since toolherd first read them. */
export function Pins({ server, revision }: { server: string; revision: string }): VNode {
  const { fetched, error, refresh } = useRequest<PinReport>('fleet/pins', { server });
  useRefresh({ server, list: 'tools', revision }, refresh);
  if (fetched === null)
    return error === null ? html`<${Loading} what="the pins" />` : html`<${ErrorBox} error=${error} />`;
  const { policy, servers } = fetched.value;
  const pins = servers[0];
  if (pins === undefined) return html`<${Empty} title="Nothing is pinned." />`;
  const different = pins.tools.filter(({ state }) => state !== 'pinned');
  const pinned = pins.tools.filter((tool) => tool.pinned !== null).length;
  const accept = (tools: readonly ToolPin[]) => acceptPins(pins, tools, refresh);
  const aside = html`<${AsOf} at=${fetched.at} />${
    different.length > 1 &&
    html`
    <${Button} tone="primary" size="small" onClick=${() => accept(different)}>Accept all ${different.length}<//>`
  }`;
  return html`
    <${Section} title="Pins" aside=${aside}>
      <div class="card-body pins">
        <p class="muted">${plural(pinned, 'tool')} pinned. ${POLICIES[policy]} A definition is the name, title, description,
          schemas and annotations of a tool. Invisible characters are shown by their numbers.</p>
        ${pins.problem !== null && html`<p class="text-bad">The pins cannot be read: ${pins.problem}</p>`}
        ${different.length === 0 && html`<${Empty} title="No tool differs from its pin." />`}
        ${different.map((tool) => html`<${Pin} key=${tool.tool} tool=${tool} onAccept=${() => accept([tool])} />`)}
      </div>
    <//>`;
}

function Pin({ tool, onAccept }: { tool: ToolPin; onAccept(): Promise<void> }): VNode {
  const { pinned, offered, state, blocked } = tool;
  const name = escapeInvisible(tool.tool);
  return html`
    <section class="pin" aria-label=${`Changes of ${name}`}>
      <header>
        <strong class="mono">${name}</strong>
        <${Pill} tone=${blocked ? 'bad' : 'warn'}>${state}${blocked ? ' and blocked' : ''}<//>
        <span class="muted">${offered && html`<${Ago} at=${offered.at} />`}${offered?.package && html`, by ${offered.package}`}${
          pinned?.package && html`, pinned with ${pinned.package}`
        }</span>
        ${offered && html`<${Button} size="small" label=${`Accept ${name}`} onClick=${onAccept}>Accept<//>`}
      </header>
      <pre class="diff" tabindex="0" role="region" aria-label=${`Difference of ${name}`}>${pinDiff(tool).map(
        (line, index) => html`<span key=${index} class=${classOf(line)}>${`${line}\n`}</span>`,
      )}</pre>
    </section>`;
}

function classOf(line: string): string {
  if (line.startsWith('@@')) return 'diff-where';
  return line.startsWith('+') ? 'diff-new' : line.startsWith('-') ? 'diff-old' : '';
}

/** By their hashes, so that only the definitions that are shown are accepted. */
async function acceptPins(
  { server }: ServerPins,
  tools: readonly ToolPin[],
  refresh: () => void,
): Promise<void> {
  const names = tools.map(({ tool }) => escapeInvisible(tool)).join(', ');
  const isYes = await confirm({
    title: tools.length === 1 ? `Accept ${names}?` : `Accept ${tools.length} tools?`,
    body: `The definitions that you see become the pins of ${server}: ${names}.`,
    action: 'Accept',
  });
  if (!isYes) return;
  const hashes = tools.flatMap(({ offered }) => offered?.hash ?? []);
  const report = await act(
    `Accepting ${names}`,
    () => request<PinReport>('fleet/pins', { server, accept: true, hashes }),
    ({ accepted }) =>
      `accepted: ${accepted.map(({ tool }) => escapeInvisible(tool)).join(', ') || 'nothing'}`,
  );
  const missed = report === undefined ? 0 : hashes.length - report.accepted.length;
  if (missed > 0)
    say(`${plural(missed, 'tool')} changed again before that was accepted`, 'bad', 'Look again.');
  refreshSoon();
  refresh();
}
