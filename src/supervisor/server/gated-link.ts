import type { ServerSpec } from '../../config/schema/spec.js';
import type { Link, Opened } from '../../link/link.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import type { Gate } from './gate.js';
import { type LinkHost, linkCallback } from './link-actor.js';
import { type PinChecking, PinnedGate } from './pinned-gate.js';
import type { ServerDeps } from './server-deps.js';
import type { IncarnationHost } from './shared-machines.js';

export interface GatedLinkEvents extends Pick<LinkHost, 'watchMemory'> {
  listed(reading: Reading): void;
  /** The server says that this list has changed. */
  outdated?: ((list: ListName) => void) | undefined;
  /** Lists were read, and compared with the pins: calls pass that may. */
  compared?(): void;
  toRead(isFirst: boolean): ReadingOrder;
  pinChecking?: PinChecking | undefined;
}

/** The link of the newest incarnation and the gate in front of it: what a replica and a transient process share. */
export class GatedLink {
  readonly pinnedGate: PinnedGate;
  /** What the server machine acts upon. */
  readonly host: IncarnationHost;
  link: Link | undefined;
  opened: Opened | undefined;

  constructor(spec: ServerSpec, deps: ServerDeps, gate: Gate, on: GatedLinkEvents) {
    this.pinnedGate = new PinnedGate(gate, on.pinChecking);
    const link = linkCallback(spec, deps.clock, deps.open, {
      linked: (linked) => {
        this.link = linked;
        this.opened = undefined;
      },
      opened: (opened) => {
        this.opened = opened;
      },
      listed: (reading) => {
        on.listed(reading);
        this.pinnedGate.listed(reading);
        on.compared?.();
      },
      outdated: (list) => {
        on.outdated?.(list);
        this.pinnedGate.doubt(list);
      },
      toRead: (isFirst) => on.toRead(isFirst || this.pinnedGate.isHeld),
      watchMemory: on.watchMemory,
      log: (text) => deps.log(text),
    });
    this.host = {
      link,
      openGate: () => this.link && this.pinnedGate.open(this.link.session),
      sealGate: () => this.pinnedGate.seal(),
      reap: () => this.reap(),
    };
  }

  /** Leaves nothing of an incarnation that broke: no open gate, no process. */
  reap(): void {
    this.pinnedGate.seal();
    this.link?.close('kill');
  }
}
