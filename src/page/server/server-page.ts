import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Inspection } from '../../fleet/fleet.js';
import { ownerOf } from '../../fleet/texts/server-notes.js';
import { stateOf } from '../../fleet/texts/why.js';
import { elapsed } from '../../shared/text/elapsed.js';
import { now, onEvents } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { authorize } from '../parts/authorize.js';
import { Ago, AsOf, ErrorBox, Loading, Page, StateBadge } from '../parts/basics.js';
import { Button } from '../parts/button.js';
import { OrderButtons } from '../parts/orders.js';
import { go, href, route } from '../parts/route.js';
import { Tabs } from '../parts/tabs.js';
import { placesOf } from '../text/cluster.js';
import { Logs } from './logs.js';
import { Overview } from './overview.js';
import { Pins } from './pins.js';
import { Prompts } from './prompts.js';
import { Resources } from './resources.js';
import { Spec } from './spec.js';
import { Tools } from './tools.js';

/** The statecharts and the journal change with events; memory and counts in between. */
const EVERY_MS = 2000;

/** One server: its state and why, what it offers, its log, its pins and its spec. */
export function ServerPage({ name }: { name: string }): VNode {
  const { fetched, error, refresh } = useRequest<Inspection>(
    'fleet/inspect',
    { server: name },
    { everyMs: EVERY_MS },
  );
  useEffect(() => refreshOnEvents(name, refresh), [name]);
  const tab = route.value.query.get('tab') ?? 'overview';
  const isRead = fetched !== null;
  // a phone shows only some of the tabs at once
  useEffect(
    () => document.getElementById(`tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [tab, isRead],
  );
  if (fetched === null)
    return html`<${Page} title=${name}>${error === null ? html`<${Loading} what="the server" />` : html`<${ErrorBox} error=${error} />`}<//>`;
  const inspection = fetched.value;
  const { status } = inspection;
  const subtitle = html`
    <span class="server-state"><${StateBadge} server=${status} />
      <span>${sentenceOf(inspection)} <${Ago} at=${status.since} isBare /></span>
      ${status.next_retry_at !== null && html`<${Countdown} at=${status.next_retry_at} />`}
      <span>${[status.transport, status.lifecycle === 'transient' ? 'transient' : '', placesOf(status)].filter(Boolean).join(', ')}</span>
      <${AsOf} at=${fetched.at} /></span>`;
  const actions = html`
    ${status.detail === 'needs_auth' && html`<${Button} tone="primary" label=${`Authorise ${name}`} onClick=${() => authorize(name)}>Authorise<//>`}
    <${OrderButtons} server=${status} size="normal" />`;
  return html`
    <${Page} title=${name} subtitle=${subtitle} actions=${actions}>
      ${error && html`<${ErrorBox} error=${error} />`}
      <${Tabs} label=${`About ${name}`} selected=${tab} tabs=${tabsOf(inspection)}
        onSelect=${(id: string) => go(href('server', [name], { tab: id === 'overview' ? undefined : id }), true)} />
    <//>`;
}

/** What the badge does not say. */
function sentenceOf({ status }: Inspection): string {
  const isPlain = ['running', 'idle', 'stopped', 'quarantined'].includes(status.detail);
  const owner = ownerOf(status).trim();
  return [isPlain ? '' : `${stateOf(status)}, for`, owner, isPlain ? 'for' : ''].filter(Boolean).join(' ');
}

/** Counts as `why` does. A component, so that only this text is drawn anew each second. */
function Countdown({ at }: { at: string }): VNode {
  const left = Date.parse(at) - now.value;
  return html`<span class="countdown" role="timer">next try ${left > 0 ? `in ${elapsed(left)}` : 'now'}</span>`;
}

const SETTLE_MS = 150;

/** Fetches at once when a state or a list changes, and again when the changes that follow it are over. */
function refreshOnEvents(name: string, refresh: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = onEvents((events) => {
    if (!events.some(({ server, topic }) => server === name && (topic === 'state' || topic === 'catalog')))
      return;
    if (timer === undefined) refresh();
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      refresh();
    }, SETTLE_MS);
  });
  return () => {
    clearTimeout(timer);
    end();
  };
}

function tabsOf(inspection: Inspection) {
  const { server, status } = inspection;
  const { tools, prompts, resources, unaccepted } = status;
  // what the server offers may be missing, or be there again, when this changes
  const revision = [
    status.incarnation,
    tools,
    prompts,
    resources,
    unaccepted?.tools ?? 0,
    status.state,
  ].join();
  const counted = (title: string, count: number) =>
    html`${title}${count > 0 && html` <span class="tab-count">${count}</span>`}`;
  return [
    { id: 'overview', title: 'Overview', content: () => html`<${Overview} inspection=${inspection} />` },
    {
      id: 'tools',
      title: counted('Tools', tools),
      content: () => html`<${Tools} server=${server} revision=${revision} />`,
    },
    {
      id: 'prompts',
      title: counted('Prompts', prompts),
      content: () => html`<${Prompts} server=${server} revision=${revision} />`,
    },
    {
      id: 'resources',
      title: counted('Resources', resources),
      content: () => html`<${Resources} server=${server} revision=${revision} />`,
    },
    { id: 'logs', title: 'Log', content: () => html`<${Logs} server=${server} />` },
    {
      id: 'pins',
      title: html`Pins${unaccepted && html` <span class="tab-count bad">${unaccepted.tools}</span>`}`,
      content: () => html`<${Pins} server=${server} revision=${revision} />`,
    },
    { id: 'spec', title: 'Spec', content: () => html`<${Spec} inspection=${inspection} />` },
  ];
}
