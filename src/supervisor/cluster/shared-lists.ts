import type { ListName, ListsOwner, Reading, ReadingOrder } from '../catalog/lists.js';

/** What the nodes of one server tell each other by its lists. */
export interface ListsPorts {
  /** This node is another one, and what runs here tells the lists: they must not change with each node that is connected. */
  isToldHere(): boolean;
  /** A node can be asked again. */
  isReady(): boolean;
  /** This node cannot be asked any more. */
  lost(): void;
  /** This node has told lists. `hasTools`: calls that wait elsewhere were compared with others, perhaps. */
  told(hasTools: boolean): void;
  /** This node will not read the lists. True where another node was asked. */
  askAnother(): boolean;
}

const NOTHING: ReadingOrder = new Map();

/** The lists of a server, as one of the nodes that have it writes them: there is one catalog for all. */
export class SharedLists implements ListsOwner {
  readonly #lists: ListsOwner;
  readonly #ports: ListsPorts;

  constructor(lists: ListsOwner, ports: ListsPorts) {
    this.#lists = lists;
    this.#ports = ports;
  }

  get isDue(): boolean {
    return this.#lists.isDue;
  }

  get isAwaited(): boolean {
    return this.#lists.isAwaited;
  }

  toRead(isAllWanted: boolean): ReadingOrder {
    return this.#ports.isToldHere() ? NOTHING : this.#lists.toRead(isAllWanted);
  }

  take(reading: Reading): void {
    this.#lists.take(reading);
    this.#ports.told('tools' in reading);
  }

  doubt(list: ListName): void {
    if (!this.#ports.isToldHere()) this.#lists.doubt(list);
  }

  suspend(): void {
    if (!this.#ports.isReady()) this.#lists.suspend();
    this.#ports.lost();
  }

  giveUp(): void {
    if (!this.#ports.askAnother()) this.#lists.giveUp();
  }
}
