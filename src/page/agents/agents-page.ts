import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ConnectedAgent } from '../../fleet/fleet.js';
import { now } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { Ago, AsOf, Code, Empty, ErrorBox, Loading, Page, Pill, Section } from '../parts/basics.js';
import { href } from '../parts/route.js';
import { type Column, Table } from '../parts/table.js';
import { callerName } from '../text/caller.js';
import { count, milliseconds, plural, shortPath } from '../text/format.js';

const EVERY_MS = 1000;
/** Of one agent; the rest is a number. */
const SHOWN_CALLS = 4;

/** Who is connected, with which view, and what each calls now. */
export function AgentsPage(): VNode {
  const { fetched, error } = useRequest<{ agents: ConnectedAgent[] }>(
    'fleet/agents',
    {},
    { everyMs: EVERY_MS },
  );
  const agents = fetched?.value.agents ?? [];
  const inFlight = agents.reduce((total, { in_flight }) => total + in_flight.length, 0);
  const subtitle =
    fetched && `${plural(agents.length, 'connection')} · ${plural(inFlight, 'call')} in flight`;
  return html`
    <${Page} title="Agents" subtitle=${subtitle}>
      ${error && html`<${ErrorBox} error=${error} title="The daemon could not say who is connected." />`}
      ${
        fetched === null
          ? error === null && html`<${Loading} what="the agents" />`
          : html`
          <${Section} title="Connected now" class="agents rows-as-cards" aside=${html`<${AsOf} at=${fetched.at} />`}>
            ${
              agents.length === 0
                ? html`<${Empty} title="No agent is connected.">
                  <p>An agent that uses the herd appears here while it is connected. Connect one with:</p>
                  <${Code} text="toolherd attach" label="Command" />
                <//>`
                : html`<${Table} caption="Connected agents" columns=${COLUMNS} rows=${agents} keyOf=${keyOf} />`
            }
          <//>`
      }
    <//>`;
}

const keyOf = ({ caller }: ConnectedAgent): string => caller;

function aboutOf({ caller, via, self }: ConnectedAgent): string {
  return [self === true ? 'this page' : '', caller, via].filter(Boolean).join(' · ');
}

const COLUMNS: readonly Column<ConnectedAgent>[] = [
  {
    id: 'client',
    title: 'Client',
    isHeading: true,
    sort: (agent) => callerName(agent),
    cell: (agent) => html`
      <div class="server-name"><span>${callerName(agent)}</span> <span class="muted small-text">${aboutOf(agent)}</span></div>`,
  },
  {
    id: 'view',
    title: 'Sees',
    sort: ({ agent, profile }) => profile ?? agent ?? '',
    cell: ({ agent, profile, surface }) => html`
      <div class="server-name">
        <span title=${agent ?? undefined}>${agent === null ? 'the global herd' : shortPath(agent)}</span>
        <span class="muted small-text">${[profile && `profile ${profile}`, surface && `tools: ${surface}`].filter(Boolean).join(' · ')}</span>
      </div>`,
  },
  {
    id: 'since',
    title: 'Connected',
    sort: ({ since }) => -Date.parse(since),
    isNumber: true,
    cell: ({ since }) => html`<${Ago} at=${since} />`,
  },
  {
    id: 'calls',
    title: 'Calls',
    isNumber: true,
    sort: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
  {
    id: 'now',
    title: 'Calls now',
    sort: ({ in_flight }) => -in_flight.length,
    cell: ({ in_flight }) =>
      in_flight.length === 0
        ? html`<span class="zero">no call now</span>`
        : html`<${CallsNow} calls=${in_flight} />`,
  },
  {
    id: 'history',
    title: 'Its calls',
    isTitleUnseen: true,
    cell: (
      agent,
    ) => html`<span class="row-actions"><a class="quiet-link" href=${href('calls', [], { caller: agent.caller })}
      aria-label=${`Show its calls: ${callerName(agent)}`}>Show its calls</a></span>`,
  },
];

function CallsNow({ calls }: { calls: ConnectedAgent['in_flight'] }): VNode {
  const more = calls.length - SHOWN_CALLS;
  return html`
    <ul class="calls-now">
      ${calls.slice(0, SHOWN_CALLS).map(
        ({ server, tool, method, since }) => html`
          <li><${Pill} tone="busy">${milliseconds(Math.max(0, now.value - Date.parse(since)))}<//>
            <a href=${href('server', [server])}>${server}</a> ${tool ?? method}</li>`,
      )}
      ${more > 0 && html`<li class="muted">and ${more} more</li>`}
    </ul>`;
}
