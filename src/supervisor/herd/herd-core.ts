import type { ServerSpec } from '../../config/schema/spec.js';
import type { Detail, ServerState, ServerStatus } from '../../fleet/fleet.js';
import type { Link, LinkEvents } from '../../link/link.js';
import { topName } from '../../machines/state-name.js';
import type { KeepText } from '../calls/result-limit.js';
import type { CatalogChange } from '../catalog/catalog-change.js';
import type { CatalogStore } from '../catalog/catalog-store.js';
import { shuttingDown } from '../errors.js';
import type { EndedCall } from '../events/call-event.js';
import { type CallRecordOptions, CallRecords } from '../events/call-records.js';
import type { News, Topic } from '../events/event-bus.js';
import { type Change, Journal } from '../events/journal.js';
import { type EarOptions, Ears } from '../events/message-tap.js';
import { Budget } from '../memory/memory-budget.js';
import { GroupMemory, type MemoryOf } from '../memory/rss.js';
import type { PinKeeping } from '../pins/pinning.js';
import { ConfiguredServer } from '../server/configured-server.js';
import { Permits } from '../server/permits.js';
import { logMarkOf } from './log-owner-tag.js';
import { Pool } from './server-pool.js';
import { startRoot } from './start-root.js';
import { toStatus } from './status.js';

export interface HerdOptions extends EarOptions, Pick<CallRecordOptions, 'callerOf' | 'audit'> {
  /** Whose herd it is, where it is one agent's alone. */
  agent?: string | undefined;
  random(): number;
  /** `slot`: the place of the server in the herd, for its log. */
  open(spec: ServerSpec, incarnation: number, on: LinkEvents, slot: string): Link;
  maxStarting: number;
  /** For how long a list of the whole herd waits for servers whose list is not known; looked at with each. */
  listWaitMs(): number;
  /** Where text over `result_limit` goes. */
  keepText?: KeepText;
  /** What servers offered in an earlier life. */
  catalogs?: CatalogStore;
  /** What tools were when they were first seen. */
  pins?: Omit<PinKeeping, 'redact'>;
  /** How the memory of processes is read; default: as the system tells. */
  memoryOf?: MemoryOf;
  /** What is wrong with the herd as a whole. */
  warn?(text: string): void;
}

/** A view of the herd, as far as the ground knows it. */
export interface Onlooker {
  has(server: ConfiguredServer): boolean;
  /** Its servers, or the one of this name. */
  sights(name?: string): readonly Sight[];
  readonly news: News;
  /** What one of its servers offers is not what it was. */
  offersChanged(): void;
}

/** A server as somebody sees it. */
export interface Sight {
  server: ConfiguredServer;
  /** Whose it is; null: everybody's. */
  agent: string | null;
  /** Every agent has one of its own; this one only stands for them. */
  isStandIn: boolean;
  /** Only other views have it. */
  isOther?: true;
}

/** What all views of a herd stand on: one root actor, one journal, and every server once for each identity. */
export class Ground {
  readonly options: HerdOptions;
  readonly pool: Pool;
  readonly ears: Ears;
  readonly budget: Budget;
  readonly #memoryOf: MemoryOf;
  readonly #journal: Journal;
  readonly #records: CallRecords;
  readonly #onlookers = new Set<Onlooker>();
  readonly #startedAt: string;
  /** Of every slot that has one, also while its server goes. */
  readonly #logMarks = new Map<string, string | undefined>();
  #requests = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(options: HerdOptions) {
    this.options = options;
    const { clock, random, maxStarting } = options;
    this.#startedAt = new Date(clock.now()).toISOString();
    this.#records = new CallRecords(options, {
      isHeard: () => this.#isHeard('call'),
      tell: (name, slot, describe) => {
        if (slot !== undefined) this.#tell('call', slot, describe);
        else for (const { news } of this.#onlookers) news.tell('call', name, describe);
      },
    });
    const tell: News['tell'] = (topic, slot, describe) => this.#tell(topic, slot, describe);
    this.ears = new Ears(options, { tell }, (slot) => this.pool.at(slot)?.view().incarnation ?? 0);
    this.#journal = new Journal(
      () => clock.now(),
      (text) => options.redact(text),
      (change) => this.#changed(change),
    );
    const { keep, release } = startRoot({
      clock,
      inspect: this.#journal.inspect,
      broke: (slot, error) => this.ears.note(slot, `a fault in toolherd itself: ${String(error)}`),
    });
    const permits = new Permits(maxStarting);
    this.#memoryOf = options.memoryOf ?? new GroupMemory(() => clock.now()).of;
    const warn = (text: string) => options.warn?.(text);
    const budget = new Budget({ clock, memoryOf: this.#memoryOf, warn });
    this.budget = budget;
    const { catalogs } = options;
    const pins = options.pins && {
      ...options.pins,
      redact: options.redactSaid ?? ((_, said) => options.redact(said)),
    };
    let generation = 0;
    this.pool = new Pool({
      create: (spec, slot, predecessor) => {
        generation += 1;
        this.#logMarks.set(slot, logMarkOf(spec, `${this.#startedAt} ${generation}`));
        const around = {
          slot,
          clock,
          random,
          permits,
          keep,
          release,
          catalogs,
          pins,
          budget,
          open: this.ears.overhear((...link) => options.open(...link, slot), slot),
          log: (text: string) => this.ears.note(slot, text),
          offersChanged: (change: CatalogChange) => this.#offersChanged(slot, change),
          called: (call: EndedCall) => this.called(spec.name, slot, call),
        };
        return new ConfiguredServer(spec, generation, around, predecessor);
      },
      forgotten: (slot) => {
        this.#journal.forget(slot);
        this.#logMarks.delete(slot);
      },
    });
  }

  join(onlooker: Onlooker): void {
    this.#onlookers.add(onlooker);
  }

  leave(onlooker: Onlooker): void {
    this.#onlookers.delete(onlooker);
  }

  /** Every server, or every one of this name, that only other views than this one have. */
  others(one: Onlooker, name?: string): Sight[] {
    const found = new Map<ConfiguredServer, Sight>();
    for (const sight of [...this.#onlookers].flatMap((onlooker) => onlooker.sights(name))) {
      const { server, isStandIn } = sight;
      if (!isStandIn && !one.has(server) && !found.has(server))
        found.set(server, { ...sight, isOther: true });
    }
    return [...found.values()];
  }

  /** Whose the lines of a server are in the log that it shares with others of its name; undefined: everybody's. */
  logMarkAt(slot: string): string | undefined {
    return this.#logMarks.get(slot);
  }

  storyOf({ slot }: ConfiguredServer) {
    return this.#journal.of(slot);
  }

  status(sights: readonly Sight[]): ServerStatus[] {
    const redact = (text: string) => this.options.redact(text);
    // looked up once for all
    const memory = this.#memoryOf(sights.flatMap(({ server }) => server.view().pids));
    return sights.map(({ server, agent, isOther }) => {
      const since = this.#journal.since(server.slot) ?? this.#startedAt;
      const redactSaid = (text: string) => this.options.redactSaid?.(server.spec, text) ?? redact(text);
      return toStatus(server, { agent, isOther, since, redactSaid, memory });
    });
  }

  /** What was pinned is not what it was: of one identity, or what is made of all. */
  vetAgain(identities?: ReadonlySet<string>): void {
    for (const server of this.pool.servers)
      if (server.pinning !== undefined && identities?.has(server.pinning.identity) !== false)
        server.vetAgain();
  }

  /** From now on nothing begins. */
  end(): void {
    this.#state = 'ending';
  }

  /** An order that came in the middle of the end would begin it all anew. */
  checkOpen(): void {
    if (this.#state === 'open') return;
    throw shuttingDown();
  }

  now(): string {
    return new Date(this.options.clock.now()).toISOString();
  }

  /** For calls that came without one: it is theirs alone, whichever view they came by. */
  newRequestId(): string {
    this.#requests += 1;
    return `${process.pid}-${this.#requests}`;
  }

  /** A request has its outcome. One that is for no server may be heard of in every view. */
  called(name: string, slot: string | undefined, call: EndedCall): void {
    this.#records.add(name, slot, call);
  }

  /** Whatever has ended is written down now. */
  flushRecords(): void {
    this.#records.flush();
  }

  #isHeard(topic: Topic): boolean {
    for (const { news } of this.#onlookers) if (news.isHeard(topic)) return true;
    return false;
  }

  /** Only those who have the server hear of it. */
  #tell<T extends Topic>(
    topic: T,
    slot: string,
    describe: Parameters<typeof News.prototype.tell<T>>[2],
  ): void {
    const server = this.pool.at(slot);
    if (server === undefined) return;
    for (const onlooker of this.#onlookers) {
      if (onlooker.news.isHeard(topic) && onlooker.has(server))
        onlooker.news.tell(topic, server.spec.name, describe);
    }
  }

  #offersChanged(slot: string, change: CatalogChange): void {
    const server = this.pool.at(slot);
    for (const onlooker of this.#onlookers) {
      if (server !== undefined && onlooker.has(server)) onlooker.offersChanged();
    }
    this.#tell('catalog', slot, () => ({ ...change, at: this.now() }));
  }

  #changed({ slot, incarnation, cause, at, chart, to: target }: Change): void {
    this.#tell('state', slot, () => {
      const view = this.pool.at(slot)?.view();
      if (view === undefined) return undefined;
      const to = topName(target);
      // The machine that changed is in the middle of its step: the other one shows where it stands.
      const state = chart === 'server' ? (to as ServerState) : view.state;
      const detail = chart === 'keeper' ? (to as Detail) : view.detail;
      return { incarnation, state, detail, cause, at };
    });
  }
}
