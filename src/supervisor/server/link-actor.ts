import type { ServerSpec } from '../../config/fields/spec.js';
import { endingError } from '../../link/failures/ending-error.js';
import type { Link, LinkEvents, Opened } from '../../link/link.js';
import type { LinkInput, LinkOrder, LinkReport } from '../../machines/link-protocol.js';
import { type Ending, failed } from '../../machines/restart/ending.js';
import type { Clock } from '../../shared/clock.js';
import { messageOf } from '../../shared/errors.js';
import { LIST_CHANGED } from '../../shared/mcp/mcp-names.js';
import { shellWord } from '../../shared/text/shell-word.js';
import {
  countEntries,
  type ListName,
  type ListsOwner,
  type ReadingOrder,
  readLists,
} from '../catalog/lists.js';
import { overBudget } from '../memory/memory-budget.js';
import { Health } from './health.js';
import { ListChanges } from './list-changes.js';

/** How a link to this kind of server is opened; tests and other transports bring their own. */
export type OpenLink = (spec: ServerSpec, incarnation: number, on: LinkEvents) => Link;

/** Gets what the link of one incarnation reports. */
export interface LinkHost extends Pick<ListsOwner, 'take' | 'doubt'> {
  linked(link: Link, incarnation: number): void;
  shookHands(opened: Opened): void;
  /** npm installs the package of the server before it can start. */
  installing(): void;
  /** Watches its memory and calls `over` above the limit. Returns the function that ends the watch. */
  watchMemory?: ((link: Link, over: (bytes: number) => void) => (() => void) | undefined) | undefined;
  /** Which lists an order to read them means. `isFirst`: this incarnation has read none yet. */
  toRead(isFirst: boolean): ReadingOrder;
  log(text: string): void;
}

/** What an actor's callback is given that matters to a link. */
export interface LinkPort {
  input: LinkInput;
  sendBack(report: LinkReport): void;
  receive(listener: (order: LinkOrder) => void): void;
}

/** The links of one server as the callback of an actor: the machine's orders in, the link's endings out as reports. */
export function linkCallback(spec: ServerSpec, clock: Clock, open: OpenLink, host: LinkHost) {
  return ({ input: { incarnation: number }, sendBack, receive }: LinkPort): (() => void) => {
    const setting = { spec, clock, open, host, incarnation: number, report: sendBack };
    const incarnation = new LinkedIncarnation(setting);
    receive((order) => incarnation.obey(order));
    return () => incarnation.dispose();
  };
}

interface Setting {
  spec: ServerSpec;
  clock: Clock;
  open: OpenLink;
  host: LinkHost;
  incarnation: number;
  report(report: LinkReport): void;
}

class LinkedIncarnation {
  readonly #setting: Setting;
  #link: Link | undefined;
  #instructions: string | undefined;
  #health: Health | undefined;
  #unwatchMemory: (() => void) | undefined;
  /** `open`: it was not ordered to close, and has not ended. */
  #state: 'open' | 'closing' | 'ended' = 'open';
  #ending: Ending | undefined;
  /** One reading of the lists runs at a time; `again`: another was ordered meanwhile. */
  #reading: 'no' | 'yes' | 'again' = 'no';
  /** When the first reading of the lists ended, or was found to be needless. */
  #firstReadAt: number | undefined;
  readonly #changes: ListChanges;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#changes = new ListChanges(setting.clock, () => setting.report({ type: 'link.list_changed' }));
  }

  obey(order: LinkOrder): void {
    // An error thrown here would orphan the process (XState runs no disposal then), so it becomes a report.
    try {
      if (order.type === 'open') this.#open();
      else if (order.type === 'discover') void this.#discover();
      else this.#close(order.type);
    } catch (error) {
      const message = `${this.#setting.spec.name}: ${messageOf(error)}`;
      this.#setting.report({ type: 'link.failed', failure: { cause: 'bug', message } });
    }
  }

  /** The actor was stopped: nothing may be left behind. */
  dispose(): void {
    this.#unwatchMemory?.();
    this.#health?.stop();
    this.#changes.stop();
    if (this.#state !== 'ended') this.#link?.close('kill');
  }

  #open(): void {
    const { spec, open, host, incarnation } = this.#setting;
    this.#link = open(spec, incarnation, {
      installing: () => host.installing(),
      opened: (opened) => this.#opened(opened),
      notification: (method) => this.#notified(method),
      ended: (ending) => this.#ended(ending),
    });
    host.linked(this.#link, incarnation);
    this.#unwatchMemory = host.watchMemory?.(this.#link, (bytes) => this.#overBudget(bytes));
  }

  #opened(opened: Opened): void {
    const { spec, clock, host, report } = this.#setting;
    const link = this.#link;
    if (link === undefined) return;
    this.#instructions = opened.instructions;
    host.shookHands(opened);
    const hung = (message: string) => {
      report({ type: 'link.hung', message });
      const fix = `see "toolherd logs ${shellWord(spec.name)}", or raise ping.timeout`;
      // to the link this is a stop like any other; its callers are to know why
      link.session.close((sent) => endingError(spec.name, failed({ cause: 'hung', message, fix }), sent));
    };
    this.#health = new Health({
      ...{ link, clock, hung, ping: spec.ping, isRemote: spec.transport !== 'stdio' },
      isFirstReading: (since) => this.#isFirstReading(since),
    });
    report({ type: 'link.opened' });
  }

  /** Ends it: its calls fail at once, and the stop sequence begins with TERM. */
  #overBudget(bytes: number): void {
    const { spec, host, report } = this.#setting;
    const link = this.#link;
    if (link === undefined || this.#state !== 'open') return;
    const failure = overBudget(spec, bytes);
    host.log(failure.message);
    report({ type: 'link.failed', failure });
    link.session.close((sent) => endingError(spec.name, failed(failure), sent));
    link.close('term');
  }

  #notified(method: string): void {
    const list = LIST_CHANGED.exec(method)?.[1] as ListName | undefined;
    if (list === undefined) return;
    this.#setting.host.doubt(list);
    this.#changes.note();
  }

  async #discover(): Promise<void> {
    const { spec, clock, host, report } = this.#setting;
    const link = this.#link;
    if (link === undefined) return;
    if (this.#reading !== 'no') {
      this.#reading = 'again';
      return;
    }
    do {
      this.#reading = 'yes';
      const order = host.toRead(this.#firstReadAt === undefined);
      const reading = order.size === 0 ? undefined : await readLists(link, spec, order);
      this.#firstReadAt ??= clock.now();
      if (reading === undefined) continue;
      // what was read while it died is not what it offers
      if (this.#state !== 'open' || link.session.state === 'closed') return;
      host.take({ ...reading, instructions: this.#instructions });
      this.#changes.read(countEntries(reading));
    } while (this.#isOrderedAgain());
    this.#reading = 'no';
    report({ type: 'link.discovered' });
  }

  #isFirstReading(since: number): boolean {
    return this.#firstReadAt === undefined ? this.#reading !== 'no' : this.#firstReadAt >= since;
  }

  #isOrderedAgain(): boolean {
    return this.#reading === 'again';
  }

  #close(from: 'close' | 'kill'): void {
    this.#health?.stop();
    this.#changes.stop();
    if (this.#link === undefined || this.#state === 'ended') {
      this.#reportClosed();
      return;
    }
    this.#state = 'closing';
    this.#link.close(from);
  }

  #ended(ending: Ending): void {
    const wasClosing = this.#state === 'closing';
    this.#state = 'ended';
    this.#ending = ending;
    this.#unwatchMemory?.();
    this.#health?.stop();
    this.#changes.stop();
    if (wasClosing) this.#reportClosed();
    else this.#setting.report(toReport(ending));
  }

  #reportClosed(): void {
    const ending = this.#ending;
    const { report } = this.#setting;
    if (ending?.kind === 'error' && ending.cause === 'close') {
      report({ type: 'link.close_failed', message: ending.message });
    } else report({ type: 'link.closed', killed: ending?.kind === 'disconnected' && ending.killed });
  }
}

/**
 * An ending without an order. Unless the process exited, the machine will order a close, which is reported at once. To
 * the machine an exit with code 0 is a clean end. One with calls in flight was not clean: then the link says so.
 */
function toReport(ending: Ending): LinkReport {
  if (ending.kind === 'disconnected') {
    return { type: 'link.exited', code: 0, signal: null, message: 'it exited without an order' };
  }
  if (ending.cause !== 'exit' || ending.code === 0) {
    const { kind: _, ...failure } = ending;
    return { type: 'link.failed', failure };
  }
  const { code = null, signal = null, message, why, fix } = ending;
  const words = { message, ...(why === undefined ? {} : { why }), ...(fix === undefined ? {} : { fix }) };
  return { type: 'link.exited', code, signal, ...words };
}
