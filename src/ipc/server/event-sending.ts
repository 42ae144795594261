import type { FleetEvent } from '../../fleet/fleet.js';
import type { Peer } from '../jsonrpc/peer.js';

type Receiver = Pick<Peer, 'notify' | 'queued' | 'flushed'>;

export function sendAll(peer: Receiver): (event: FleetEvent) => void {
  return (event) => peer.notify('fleet/event', event);
}

/**
 * Sends events while at most `mostBytes` wait for the client. Later ones are dropped and counted; when the client took what
 * waited, it gets their number as `fleet/dropped`, and knows that its picture of the herd is old.
 */
export function sendBounded(peer: Receiver, mostBytes: number): (event: FleetEvent) => void {
  let dropped = 0;
  const report = () => {
    const events = dropped;
    dropped = 0;
    peer.notify('fleet/dropped', { events });
  };
  return (event) => {
    if (dropped === 0 && peer.queued <= mostBytes) {
      peer.notify('fleet/event', event);
      return;
    }
    dropped += 1;
    if (dropped === 1) void peer.flushed().then(report);
  };
}
