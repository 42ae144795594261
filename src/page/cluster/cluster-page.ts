import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ClusterNode, ClusterStatus } from '../../fleet/fleet.js';
import { status } from '../live/store.js';
import { useRequest } from '../live/use-request.js';
import { Ago, AsOf, Code, Empty, ErrorBox, Loading, Page, Pill, Section } from '../parts/basics.js';
import { FilterBox } from '../parts/inputs.js';
import { go, href, route } from '../parts/route.js';
import { type Column, Table } from '../parts/table.js';
import {
  callsOf,
  clusterTone,
  nodeTone,
  type SharedServer,
  sharedServers,
  sharedTone,
} from '../text/cluster.js';
import { count, milliseconds, plural } from '../text/format.js';
import { matches } from '../text/sort.js';
import { DrainButton } from './drain-button.js';

const EVERY_MS = 1000;
/** Of one node; the rest is a number. The table of servers has all of them. */
const SHOWN_SERVERS = 5;
/** The table of servers has so many rows at most; the filter finds the others. */
const SHOWN_ROWS = 200;

/** The nodes of the cluster, and the servers that they share. */
export function ClusterPage(): VNode {
  const { fetched, error, refresh } = useRequest<ClusterStatus>('fleet/cluster', {}, { everyMs: EVERY_MS });
  const known = fetched?.value;
  const isNode = known !== undefined && known.state !== 'off';
  return html`
    <${Page} title="Cluster" subtitle=${isNode ? html`<${Summary} cluster=${known} />` : undefined}
      actions=${isNode && html`<${DrainButton} cluster=${known} onDone=${refresh} />`}>
      ${error && html`<${ErrorBox} error=${error} title="The daemon could not say what its cluster is." />`}
      ${known === undefined ? error === null && html`<${Loading} what="the cluster" />` : html`<${Cluster} cluster=${known} at=${fetched!.at} />`}
    <//>`;
}

function Summary({ cluster }: { cluster: ClusterStatus }): VNode {
  const { name, node, engine, state, since, draining } = cluster;
  return html`<${Pill} tone=${clusterTone(state)}>${state}<//> ${' '}
    ${since !== null && html`<${Ago} at=${since} />`} · ${node}, a node of ${name} on ${engine}${draining && ' · draining'}`;
}

function Cluster({ cluster, at }: { cluster: ClusterStatus; at: number }): VNode {
  const { state, why, fix, nodes, servers_url } = cluster;
  if (state === 'off' && why === undefined) {
    return html`<div class="card"><${Empty} title="This daemon is in no cluster.">
      <p>Daemons of several machines use the servers of each other when their configs name a NATS server:</p>
      <${Code} label="Lines for config.yaml" text=${'cluster:\n  servers: [nats://HOST:4222]\n  share: ["*"]'} />
    <//></div>`;
  }
  return html`
    ${
      why !== undefined &&
      html`
      <div class="error-box" role="alert">
        <p class="error-what">${state === 'off' ? 'The cluster of the config is not used.' : `The connection to NATS is ${state === 'lost' ? 'lost' : 'not there yet'}. Servers of this machine go on.`}</p>
        <p class="pre">${why}</p>
        ${fix && html`<p><strong>Fix:</strong> ${fix}</p>`}
      </div>`
    }
    ${state !== 'off' && html`<${Nodes} nodes=${nodes} at=${at} urls=${servers_url} />`}
    ${state !== 'off' && html`<${Servers} nodes=${nodes} />`}`;
}

function Nodes({ nodes, at, urls }: { nodes: readonly ClusterNode[]; at: number; urls: readonly string[] }) {
  return html`
    <${Section} title="Nodes" class="nodes rows-as-cards" aside=${html`<span class="muted small-text">${urls.join(', ')}</span><${AsOf} at=${at} />`}>
      ${
        nodes.length === 0
          ? html`<${Empty} title="No node is known yet." />`
          : html`<${Table} caption="Nodes of the cluster" columns=${NODE_COLUMNS} rows=${nodes} keyOf=${nameOf} />`
      }
    <//>`;
}

const nameOf = ({ name }: { name: string }): string => name;

const NODE_COLUMNS: readonly Column<ClusterNode>[] = [
  {
    id: 'node',
    title: 'Node',
    isHeading: true,
    sort: nameOf,
    cell: ({ name, self, version }) => html`
      <div class="server-name"><span>${name}</span>
        <span class="muted small-text">${[self ? 'this node' : '', version && `toolherd ${version}`].filter(Boolean).join(' · ')}</span></div>`,
  },
  {
    id: 'state',
    title: 'State',
    sort: ({ state }) => state,
    cell: ({ state }) => html`<${Pill} tone=${nodeTone(state)}>${state}<//>`,
  },
  {
    id: 'since',
    title: 'Since',
    isNumber: true,
    sort: ({ since }) => -Date.parse(since),
    cell: ({ since }) => html`<${Ago} at=${since} />`,
  },
  {
    id: 'latency',
    title: 'Latency',
    isNumber: true,
    sort: ({ latency_ms }) => latency_ms ?? -1,
    cell: ({ latency_ms }) => milliseconds(latency_ms),
  },
  {
    id: 'calls',
    title: 'Calls now',
    isNumber: true,
    sort: callsOf,
    cell: (node) => count(callsOf(node)),
  },
  {
    id: 'servers',
    title: 'Shares',
    sort: ({ servers }) => servers.length,
    cell: ({ servers }) =>
      servers.length === 0
        ? html`<span class="zero">no server</span>`
        : html`<ul class="shared">
            ${servers.slice(0, SHOWN_SERVERS).map(
              ({ name, state, in_flight }) => html`
                <li>${name} <${Pill} tone=${sharedTone(state)}>${state}${in_flight > 0 && `, ${plural(in_flight, 'call')}`}<//></li>`,
            )}
            ${servers.length > SHOWN_SERVERS && html`<li class="muted">and ${servers.length - SHOWN_SERVERS} more</li>`}
          </ul>`,
  },
];

function Servers({ nodes }: { nodes: readonly ClusterNode[] }): VNode {
  const filter = route.value.query.get('filter') ?? '';
  const all = sharedServers(nodes);
  const found = all.filter(({ name, nodes: places }) =>
    matches(filter, [name, ...places.map(({ node }) => node.name)]),
  );
  const narrow = (next: string) => go(href('cluster', [], { filter: next }), true);
  return html`
    <${Section} title="Shared servers" class="shared-servers rows-as-cards" aside=${html`
        <span class="muted small-text">${plural(all.length, 'server')}</span>
        <${FilterBox} label="Filter shared servers" value=${filter} onChange=${narrow} />`}>
      ${
        found.length === 0
          ? html`<${Empty} title=${all.length === 0 ? 'No node shares a server.' : 'No server matches the filter.'}>
              ${all.length === 0 && html`<p>A node shares the servers that <code>share</code> of its config names.</p>`}<//>`
          : html`<${Table} caption="Servers that nodes share" columns=${SERVER_COLUMNS} rows=${found.slice(0, SHOWN_ROWS)} keyOf=${nameOf} />`
      }
      ${found.length > SHOWN_ROWS && html`<p class="muted">and ${found.length - SHOWN_ROWS} more: narrow the filter</p>`}
    <//>`;
}

const SERVER_COLUMNS: readonly Column<SharedServer>[] = [
  {
    id: 'server',
    title: 'Server',
    isHeading: true,
    sort: nameOf,
    cell: ({ name }) => {
      const isHere = status.value?.value.servers.some((server) => server.name === name) === true;
      return isHere ? html`<a href=${href('server', [name])}>${name}</a>` : name;
    },
  },
  {
    id: 'calls',
    title: 'Calls now',
    isNumber: true,
    sort: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
  {
    id: 'choice',
    title: 'Who takes a call',
    sort: ({ isBalanced }) => String(isBalanced),
    cell: ({ isBalanced }) => (isBalanced ? 'the least busy node' : 'the own node first'),
  },
  {
    id: 'nodes',
    title: 'Nodes',
    sort: ({ nodes }) => nodes.length,
    cell: ({ nodes }) => html`<ul class="shared">
      ${nodes.map(({ node, server }) => {
        const isUp = node.state === 'up';
        const tone = isUp ? sharedTone(server.state) : nodeTone(node.state);
        return html`<li>${node.name} <${Pill} tone=${tone}>${isUp ? server.state : node.state}<//></li>`;
      })}
    </ul>`,
  },
];
