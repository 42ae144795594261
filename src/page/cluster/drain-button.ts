import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ClusterStatus } from '../../fleet/fleet.js';
import { request } from '../live/store.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { act } from '../parts/toast.js';

export interface DrainButtonProps {
  cluster: ClusterStatus;
  onDone(): void;
}

/** Drains this node, or lets other nodes call it again. */
export function DrainButton({ cluster: { node, draining }, onDone }: DrainButtonProps): VNode {
  const drain = async () => {
    const isYes = await confirm({
      title: `Drain ${node}?`,
      body: 'Calls of other nodes that are in flight end, and new ones go to other nodes. Agents of this machine go on. A new start of the daemon ends it.',
      action: 'Drain',
      tone: 'danger',
    });
    if (!isYes) return;
    const order = () => request<ClusterStatus>('fleet/cluster_drain');
    await act(`Drain ${node}`, order, () => `${node} is draining: it takes no new calls of other nodes.`);
    onDone();
  };
  const undrain = async () => {
    const isYes = await confirm({
      title: `End the draining of ${node}?`,
      body: 'Other nodes call its servers again.',
      action: 'Undrain',
    });
    if (!isYes) return;
    const order = () => request<ClusterStatus>('fleet/cluster_undrain');
    await act(`Undrain ${node}`, order, () => `${node} takes calls of other nodes.`);
    onDone();
  };
  return draining
    ? html`<${Button} key="undrain" label=${`Undrain ${node}`} onClick=${undrain}>Undrain<//>`
    : html`<${Button} key="drain" label=${`Drain ${node}`} onClick=${drain}>Drain<//>`;
}
