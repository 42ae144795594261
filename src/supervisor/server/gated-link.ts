import type { Link, Opened } from '../../link/link.js';
import type { ListName, ListsOwner, Reading, ReadingOrder } from '../catalog/lists.js';
import type { Gate } from './gate.js';
import { type LinkHost, linkCallback } from './link-actor.js';
import { PinnedGate } from './pinned-gate.js';
import type { RunnerOptions } from './runner.js';
import type { IncarnationHost } from './shared-machines.js';

export interface GatedLinkOptions extends Omit<RunnerOptions, 'id' | 'predecessor'> {
  gate: Gate;
  watchMemory: LinkHost['watchMemory'];
  installing: LinkHost['installing'];
  /** Whether it reads all lists, or only those that are not fresh. `isFirst`: this incarnation has read none yet. */
  readsAll(isFirst: boolean): boolean;
  /** Lists were read, and compared with their pins: calls of tools that are not blocked pass now. */
  compared(reading: Reading): void;
}

/** The link of the newest incarnation and the gate in front of it: what a replica and a transient process share. */
export class GatedLink implements LinkHost {
  readonly pinnedGate: PinnedGate;
  /** What the server machine acts upon. */
  readonly host: IncarnationHost;
  readonly watchMemory: LinkHost['watchMemory'];
  link: Link | undefined;
  opened: Opened | undefined;
  readonly #options: GatedLinkOptions;
  readonly #lists: ListsOwner;

  constructor(options: GatedLinkOptions) {
    const { spec, deps, gate, pinChecking } = options;
    this.#options = options;
    this.#lists = options.lists;
    this.watchMemory = options.watchMemory;
    this.pinnedGate = new PinnedGate(gate, pinChecking);
    this.host = {
      link: linkCallback(spec, deps.clock, deps.open, this),
      openGate: () => this.link && this.pinnedGate.open(this.link.session),
      sealGate: () => this.pinnedGate.seal(),
      reap: () => this.reap(),
    };
  }

  linked(link: Link): void {
    this.link = link;
    this.opened = undefined;
  }

  shookHands(opened: Opened): void {
    this.opened = opened;
  }

  installing(): void {
    this.#options.installing();
  }

  take(reading: Reading): void {
    this.#lists.take(reading);
    this.pinnedGate.listed(reading);
    this.#options.compared(reading);
  }

  doubt(list: ListName): void {
    this.#lists.doubt(list);
    this.pinnedGate.doubt(list);
  }

  toRead(isFirst: boolean): ReadingOrder {
    return this.#lists.toRead(this.#options.readsAll(isFirst) || this.pinnedGate.isHeld);
  }

  log(text: string): void {
    this.#options.deps.log(text);
  }

  /** Leaves nothing of an incarnation that broke: no open gate, no process. */
  reap(): void {
    this.pinnedGate.seal();
    this.link?.close('kill');
  }
}
