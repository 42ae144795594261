import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ServerHistory, ServerStatus } from '../../fleet/fleet.js';
import { HISTORY_MINUTES } from '../../fleet/history.js';
import { Ago, StateBadge } from '../parts/basics.js';
import { OrderButtons } from '../parts/orders.js';
import { href } from '../parts/route.js';
import { Sparkline } from '../parts/sparkline.js';
import { type Column, Table } from '../parts/table.js';
import { placesOf } from '../text/cluster.js';
import { count, memory, milliseconds, plural, shortPath } from '../text/format.js';
import { sum } from '../text/series.js';
import { serverKey, stateWord } from '../text/server-state.js';

export interface ServersTableProps {
  servers: readonly ServerStatus[];
  history: ReadonlyMap<string, ServerHistory>;
  /** What the daemon has recorded: minutes, minutes of a bar, and its name. Null: not known yet. */
  window: readonly [minutes: number, bar: number, name: string] | null;
}

/** A row for each server. On a narrow screen a row is a card. */
export function ServersTable({ servers, history, window }: ServersTableProps): VNode {
  const [minutes, , span] = window ?? [HISTORY_MINUTES, 10, '24 hours'];
  const columns = useMemo(() => columnsFor(history, minutes, span), [history, minutes, span]);
  return html`<${Table} caption="Servers" columns=${columns} rows=${servers} keyOf=${serverKey} />`;
}

function columnsFor(
  history: ReadonlyMap<string, ServerHistory>,
  minutes: number,
  span: string,
): Column<ServerStatus>[] {
  return [
    {
      id: 'name',
      title: 'Server',
      isHeading: true,
      sort: ({ name }) => name,
      cell: (server) => html`
        <div class="server-name"><a href=${href('server', [server.name])}>${server.name}</a> <span class="muted small-text">${aboutOf(server)}</span></div>`,
    },
    {
      id: 'state',
      title: 'State',
      sort: (server) => stateWord(server).word,
      cell: (
        server,
      ) => html`<span class="state-cell"><${StateBadge} server=${server} /><span class="muted small-text"><${Ago}
        at=${server.since} isBare /></span></span>`,
    },
    {
      id: 'activity',
      title: `Last ${span}`,
      cell: (server) => {
        const known = history.get(serverKey(server));
        if (known === undefined) return '';
        const shown = known.calls.slice(-minutes);
        const calls = sum(shown);
        const marks = known.failures.slice(-minutes);
        const label = `${plural(calls, 'call')}, ${plural(sum(marks), 'failure')} in the last ${span}`;
        return html`<${Sparkline} values=${shown} marks=${marks} label=${label} />`;
      },
    },
    {
      id: 'calls',
      title: 'Calls',
      isNumber: true,
      sort: ({ calls }) => calls,
      cell: ({ calls, in_flight }) =>
        html`<span title=${plural(calls, 'call')}>${count(calls)}</span>${
          in_flight > 0 &&
          html` <span class="busy-text" title=${plural(in_flight, 'call')}>${in_flight} now</span>`
        }`,
    },
    {
      id: 'failures',
      title: 'Failed',
      isNumber: true,
      sort: ({ failures }) => failures,
      cell: ({ failures }) =>
        html`<span class=${failures > 0 ? 'text-bad' : 'zero'}>${count(failures)}</span>`,
    },
    {
      id: 'p50',
      title: 'p50',
      isNumber: true,
      sort: ({ latency_ms }) => latency_ms.p50,
      cell: ({ latency_ms }) => milliseconds(latency_ms.p50),
    },
    {
      id: 'p99',
      title: 'p99',
      isNumber: true,
      sort: ({ latency_ms }) => latency_ms.p99,
      cell: ({ latency_ms }) => milliseconds(latency_ms.p99),
    },
    {
      id: 'restarts',
      title: 'Restarts',
      isNumber: true,
      sort: ({ restarts }) => restarts,
      cell: ({ restarts }) => html`<span class=${restarts > 0 ? '' : 'zero'}>${restarts}</span>`,
    },
    {
      id: 'memory',
      title: 'Memory',
      isNumber: true,
      sort: ({ pids, rss_bytes }) => (pids.length === 0 ? null : rss_bytes),
      cell: (server) => {
        const { pids, rss_bytes } = server;
        const shown = pids.length === 0 ? '–' : memory(rss_bytes);
        const hour = history.get(serverKey(server))?.rss_bytes.slice(-60) ?? [];
        // a line needs two points, and a server at rest has none worth a picture
        const isDrawn = hour.filter(Boolean).length > 1;
        return html`<span class="memory-cell">${
          isDrawn &&
          html`<${Sparkline} kind="line" points=${60} values=${hour} label=${`Memory in the last hour; now ${shown}`} />`
        }<span class="memory-now">${shown}</span></span>`;
      },
    },
    {
      id: 'tools',
      title: 'Tools',
      isNumber: true,
      sort: ({ tools }) => tools,
      cell: ({ tools, lists }) => {
        const freshness = lists?.tools?.freshness;
        return html`<span title=${freshness && `the list is ${freshness}`}>${freshness === 'unknown' ? '?' : tools}</span>`;
      },
    },
    {
      id: 'orders',
      title: 'Orders',
      isTitleUnseen: true,
      cell: (server) =>
        html`<span class="row-actions"><${OrderButtons} server=${server} most=${2} tone="quiet" /></span>`,
    },
  ];
}

/** Version, transport and owner, as far as they say something. */
function aboutOf(server: ServerStatus): string {
  const { server_info, package: found, transport, lifecycle, agent, other_view, elsewhere } = server;
  // the daemon of another node answers for its servers
  const version = elsewhere === true ? undefined : (server_info?.version ?? found?.version);
  return [
    typeof version === 'string' ? `v${version}` : '',
    transport === 'stdio' ? '' : transport,
    lifecycle === 'transient' ? 'transient' : '',
    placesOf(server),
    other_view === true || agent !== null ? shortPath(agent ?? 'global config', 28) : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
