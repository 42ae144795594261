import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { FleetStatus, ServerStatus } from '../../fleet/fleet.js';
import { useHistory } from '../live/history.js';
import { status } from '../live/store.js';
import { AsOf, Empty, Loading, Page, Section } from '../parts/basics.js';
import { Choice, FilterBox } from '../parts/inputs.js';
import { go, href, route } from '../parts/route.js';
import { plural } from '../text/format.js';
import { serverKey, stateWord } from '../text/server-state.js';
import { matches } from '../text/sort.js';
import { AttentionList } from './attention-list.js';
import { DayChart } from './day-chart.js';
import { windowOf } from './day-series.js';
import { ServersTable } from './servers-table.js';

/** All servers: what needs attention, the last day, and a row each. */
export function HerdPage(): VNode {
  const known = status.value;
  const history = useHistory();
  const byName = useMemo(
    () => new Map(history?.value.servers.map((server) => [serverKey(server), server])),
    [history],
  );
  if (known === null) return html`<${Page} title="Herd"><${Loading} what="the herd" /><//>`;
  const { servers } = known.value;
  const filter = route.value.query.get('filter') ?? '';
  const state = route.value.query.get('state') ?? '';
  const shown = servers.filter((server) => isShown(server, filter, state));
  const narrow = (next: { filter?: string; state?: string }) =>
    go(href('herd', [], { filter, state, ...next }), true);
  if (servers.length === 0) {
    return html`<${Page} title="Herd"><div class="card"><${Empty} title="No servers are configured.">
      Add one from the <a href=${href('registry')}>registry</a>, or with <code>toolherd add</code>.
    <//></div><//>`;
  }
  return html`
    <${Page} title="Herd" subtitle=${summaryOf(known.value)}>
      <${AttentionList} status=${known.value} />
      ${history && html`<${DayChart} history=${history} />`}
      <${Section} title="Servers" class="servers" aside=${html`
          <${AsOf} at=${known.at} />
          <${Choice} label="State" value=${state} choices=${statesOf(servers)} onChange=${(next: string) => narrow({ state: next })} />
          <${FilterBox} label="Filter servers" value=${filter} onChange=${(next: string) => narrow({ filter: next })} />`}>
        ${
          shown.length === 0
            ? html`<${Empty} title="No server matches the filter."><button type="button" onClick=${() => narrow({ filter: '', state: '' })}>Show all ${servers.length}</button><//>`
            : html`<${ServersTable} servers=${shown} history=${byName} window=${history && windowOf(history.value)} />`
        }
      <//>
    <//>`;
}

function isShown(server: ServerStatus, filter: string, state: string): boolean {
  const { word } = stateWord(server);
  if (state !== '' && word !== state) return false;
  return matches(filter, [server.name, word, server.transport, server.agent, server.package?.name]);
}

/** The states that servers have now, with how many have each. */
function statesOf(servers: readonly ServerStatus[]): [string, string][] {
  const counts = new Map<string, number>();
  for (const server of servers) {
    const { word } = stateWord(server);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const each = [...counts].sort().map(([word, many]): [string, string] => [word, `${word} (${many})`]);
  return [['', 'all'], ...each];
}

function summaryOf({ servers }: FleetStatus): string {
  const running = servers.filter(({ detail, state }) => detail === 'running' && state === 'connected').length;
  const tools = servers.reduce((total, server) => total + server.tools, 0);
  const inFlight = servers.reduce((total, server) => total + server.in_flight, 0);
  return [
    plural(servers.length, 'server'),
    `${running} running`,
    plural(tools, 'tool'),
    `${plural(inFlight, 'call')} in flight`,
  ].join(' · ');
}
