import './browser-language.js';
import { html, render } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { elapsed } from '../shared/text/elapsed.js';
import { AgentsPage } from './agents/agents-page.js';
import { CallsPage } from './calls/calls-page.js';
import { ClusterPage } from './cluster/cluster-page.js';
import { ConfigPage } from './config/config-page.js';
import { HerdPage } from './herd/herd-page.js';
import { FleetError } from './live/fleet-error.js';
import { clockTime, closing, isLive, link, retryNow, startStore, status } from './live/store.js';
import { Ago, AsOf, Empty, ErrorBox, Page } from './parts/basics.js';
import { Button } from './parts/button.js';
import { ConfirmHost } from './parts/dialog.js';
import { href, route, startRouter } from './parts/route.js';
import { Toasts } from './parts/toast.js';
import { RegistryPage } from './registry/registry-page.js';
import { ServerPage } from './server/server-page.js';
import { clock } from './text/format.js';
import { applyTheme, ThemeSwitch } from './theme.js';

/** The pages of the navigation, the first one at the address without a path. */
const PAGES = [
  ['herd', 'Herd', HerdPage],
  ['agents', 'Agents', AgentsPage],
  ['calls', 'Calls', CallsPage],
  ['cluster', 'Cluster', ClusterPage],
  ['config', 'Config', ConfigPage],
  ['registry', 'Registry', RegistryPage],
] as const;

/** Most daemons are in no cluster: then the navigation does without it. */
const isInNavigation = (id: string, shown: string): boolean =>
  id !== 'cluster' || shown === id || (status.value?.value.daemon.cluster ?? null) !== null;

/** Pages that the navigation shows as another one. */
const SHOWN_AS: Readonly<Record<string, string>> = { '': 'herd', server: 'herd' };

function Content(): VNode {
  const [fault, forget] = useErrorBoundary();
  if (fault !== undefined) {
    return html`<${Page} title="This page failed">
      <${ErrorBox} error=${FleetError.of(fault)} title="A fault of the page itself: the herd is not concerned." />
      <div class="actions"><${Button} isLocal onClick=${forget}>Show it again<//></div>
    <//>`;
  }
  return html`<${RoutedPage} />`;
}

function RoutedPage(): VNode {
  const { page, rest } = route.value;
  const [server] = rest;
  if (page === 'server' && server !== undefined) return html`<${ServerPage} key=${server} name=${server} />`;
  const found = page === '' ? PAGES[0] : PAGES.find(([id]) => id === page);
  if (found !== undefined) return html`<${found[2]} key=${found[0]} />`;
  return html`<${Page} title="No such page"><${Empty} title="There is no page at this address.">
    <a href=${href('herd')}>Go to the herd</a>
  <//><//>`;
}

/** Says whether what the page shows is so now. */
function Liveness(): VNode {
  if (isLive.value)
    return html`<span class="live good"><span class="dot" aria-hidden="true"></span>live</span>`;
  const word = link.value.kind === 'lost' ? 'lost' : 'connecting';
  return html`<span class="live bad"><span class="dot" aria-hidden="true"></span>${word}</span>`;
}

/** A daemon that starts again has another address. */
const NEW_PAGE_MS = 5000;

function LostBanner(): VNode | null {
  const state = link.value;
  const end = closing.value;
  const ended = end?.reason === 'replaced' ? 'another daemon takes its place' : 'it was stopped';
  if (state.kind === 'lost') {
    const lostMs = clockTime.value - state.since;
    return html`
      <div class="banner bad" role="alert">
        <p><strong>The page lost the daemon at ${clock(state.since)}</strong><span aria-hidden="true"> (${elapsed(lostMs)} ago)</span>: ${end === null ? state.why : ended}. What you see is from then. The page tries to connect again. ${lostMs > NEW_PAGE_MS && html`If the daemon was started again, run <code>toolherd ui</code> for a new page.`}</p>
        <${Button} isLocal onClick=${retryNow}>Try now<//>
      </div>`;
  }
  if (end === null) return null;
  return html`<div class="banner warn" role="alert"><p><strong>The daemon is ending</strong>: ${ended}.</p></div>`;
}

function App(): VNode {
  const { page, rest } = route.value;
  const shown = SHOWN_AS[page] ?? page;
  // the first page has two addresses: the first letter of a filter changes one into the other
  const address = `${page || 'herd'}/${rest.join('/')}`;
  const isFirst = useRef(true);
  useEffect(() => {
    // a screen reader begins to read at the new page; the first one is read anyway
    if (!isFirst.current) document.getElementById('page-title')?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [address]);
  const skip = (event: Event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href=${href('herd')}><span class="mark" aria-hidden="true"><i></i><i></i><i></i></span>toolherd</a>
      <nav aria-label="Pages">
        ${PAGES.filter(([id]) => isInNavigation(id, shown)).map(
          ([id, title]) =>
            html`<a key=${id} href=${href(id)} aria-current=${shown === id ? 'page' : undefined}>${title}</a>`,
        )}
      </nav>
      <div class="top-end"><${Liveness} /><${ThemeSwitch} /></div>
    </header>
    <${LostBanner} />
    <main id="main" tabindex="-1" class=${link.value.kind === 'lost' ? 'stale' : ''}><${Content} key=${address} /></main>
    <footer class="foot">
      ${
        status.value &&
        html`
        <span>toolherd ${status.value.value.daemon.version}, pid ${status.value.value.daemon.pid}, up <${Ago}
          at=${status.value.value.daemon.started_at} isBare /></span>
        <${AsOf} at=${status.value.at} />`
      }
    </footer>
    <${ConfirmHost} />
    <${Toasts} />`;
}

applyTheme();
startRouter();
startStore(new URL('socket', location.href).href.replace(/^http/, 'ws').replace(/#.*$/, ''));
render(html`<${App} />`, document.getElementById('app')!);
