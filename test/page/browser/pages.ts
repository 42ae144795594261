import { config, server } from '../../faults/config.js';
import { startRegistry } from '../../registry/server.js';
import * as shapes from '../../registry/shapes.js';
import { everything, type Opened, openHerd } from './browser.js';
import { clusterOf, node } from './fake-cluster.js';

/** Of each page: its address, and what is there when it is complete. */
export const PAGES: Readonly<Record<string, readonly [address: string, selector: string]>> = {
  herd: ['#/herd', '.attention li'],
  agents: ['#/agents', '.agents tbody tr'],
  calls: ['#/calls', '.call-list tbody tr'],
  server: ['#/server/everything', '.charts svg'],
  broken: ['#/server/broken', '.why .error-box'],
  tools: ['#/server/everything?tab=tools&tool=get-structured-content', 'form.try'],
  prompts: ['#/server/everything?tab=prompts', '.entries li'],
  resources: ['#/server/everything?tab=resources', '.entries li'],
  log: ['#/server/broken?tab=logs', '.log-line'],
  pins: ['#/server/everything?tab=pins', '.tab-panel .card'],
  spec: ['#/server/everything?tab=spec', 'dl.spec'],
  cluster: ['#/cluster', '.shared-servers tbody tr'],
  config: ['#/config', '.plan, .card-body'],
  registry: ['#/registry?q=context&show=io.github.upstash%2Fcontext7', '.split-detail dl.spec'],
};

/** For `fakeCluster`: nodes in every state. */
export const CLUSTER = clusterOf(
  [
    node('desk', {
      self: true,
      servers: [{ name: 'good', state: 'connected', in_flight: 0, cluster: false }],
    }),
    node('gpu', {
      state: 'draining',
      servers: [{ name: 'embed', state: 'error', in_flight: 2, cluster: true }],
    }),
    node('old', { state: 'away' }),
  ],
  { why: 'a message was not answered', fix: 'wait' },
);

/** A herd that has something for every page: a server that works, one that fails, calls, and a registry. */
export async function openHerdOfPages(): Promise<Opened> {
  const registry = await startRegistry([shapes.context7, shapes.github]);
  const servers = [
    everything(),
    server('good', 'good.mjs'),
    server('broken', 'exits-at-start.mjs', { max_restarts: 0 }),
  ];
  const herd = await openHerd(config(servers), { environment: { TOOLHERD_REGISTRY: registry.url } });
  await herd.fleet.start({ all: true }, true).catch(() => undefined);
  await herd.say('good', 'echo', { value: 'x' });
  await herd.say('good', 'refuse');
  return herd;
}
