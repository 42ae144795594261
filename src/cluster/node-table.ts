import { type Clock, dateOf, wasAsleep } from '../shared/clock.js';
import { isNodeName } from '../shared/text/node-name.js';
import type { Beat, OfferedServer, ServerList } from './presence-messages.js';

export type NodeState = 'up' | 'draining' | 'away';

/** Another node of the cluster, as it last described itself. */
export interface ClusterNode {
  name: string;
  instance: string;
  version: string;
  /** Of the socket's protocol. */
  api: number;
  state: NodeState;
  /** Since when it is in this state; a date. */
  since: number;
  /** Those of a node that is away are as it last said. */
  servers: readonly OfferedServer[];
  /** Counts what it has said: another number, another report. */
  reports: number;
}

interface Known {
  beat: Beat;
  /** Instances that had the name before. */
  former: readonly string[];
  list: ServerList | undefined;
  state: NodeState;
  since: number;
  /** By the clock. */
  heardAt: number;
  reports: number;
  /** As others see it. Made when it is asked for: there may be ten thousand servers. */
  shown?: ClusterNode | undefined;
}

export interface NodeTableOptions {
  clock: Clock;
  /** A node came, left, drains, or offers other servers. */
  changed(): void;
  /** A node has said how busy it is. */
  reported(name: string): void;
  /** Reads the servers of a node that came before this one listened. */
  missing(name: string): void;
}

/** A node that says nothing for so long is away. It says something every second. */
export const AWAY_MS = 2500;
const LOOK_MS = 250;
/** A node that was away for so long is forgotten, and its servers with it. */
export const FORGET_MS = 24 * 3_600_000;
/** A program that may write into the bucket can invent names. */
export const MOST_NODES = 1000;
const MOST_FORMER = 4;
const UNKNOWN = { list: undefined, state: 'away', reports: 0, former: [] } as const;

/** The other nodes. Times are of this machine alone: clocks of machines are never compared. */
export class NodeTable {
  readonly #options: NodeTableOptions;
  readonly #known = new Map<string, Known>();
  #watch: unknown;

  constructor(options: NodeTableOptions) {
    this.#options = options;
  }

  get nodes(): ClusterNode[] {
    return [...this.#known].map(([name, known]) => nodeOf(name, known));
  }

  get(name: string): ClusterNode | undefined {
    const known = this.#known.get(name);
    return known && nodeOf(name, known);
  }

  heard(name: string, beat: Beat): void {
    const { clock, reported, missing } = this.#options;
    const known = this.#known.get(name);
    if (known === undefined && !this.#admits(name)) return;
    if (known !== undefined && this.#hasLostItsName(known, beat)) return;
    const { list, state, since, reports } = known ?? { ...UNKNOWN, since: dateOf(clock) };
    const former = formerOf(known, beat);
    this.#known.set(name, { beat, former, list, state, since, reports: reports + 1, heardAt: clock.now() });
    this.#watch ??= this.#look();
    if (list?.instance !== beat.instance || list.list !== beat.list) missing(name);
    this.#decide(name, false);
    reported(name);
  }

  /**
   * A daemon that hung while another one took its name says once more that it is there: the bucket refuses that, but the
   * message arrives here all the same.
   */
  #hasLostItsName({ former, heardAt }: Known, { instance }: Beat): boolean {
    return former.includes(instance) && this.#options.clock.now() - heardAt < AWAY_MS;
  }

  /** A new node takes the place of the one that is away longest, when the table is full. */
  #admits(name: string): boolean {
    if (!isNodeName(name)) return false;
    if (this.#known.size < MOST_NODES) return true;
    const away = [...this.#known].filter(([, { state }]) => state === 'away');
    const [longest] = away.sort(([, one], [, other]) => one.heardAt - other.heardAt);
    return longest !== undefined && this.#known.delete(longest[0]);
  }

  listed(name: string, list: ServerList): void {
    const known = this.#known.get(name);
    // the next beat of another instance asks for it again
    if (known === undefined || known.beat.instance !== list.instance) return;
    if (known.list?.instance === list.instance && known.list.list >= list.list) return;
    known.list = list;
    known.reports += 1;
    known.shown = undefined;
    this.#decide(name, true);
  }

  /** The node has said that it leaves. */
  left(name: string): void {
    if (this.#known.delete(name)) this.#options.changed();
  }

  /** Nothing can be heard any more. */
  lost(): void {
    let isChanged = false;
    for (const known of this.#known.values()) isChanged = this.#away(known) || isChanged;
    if (isChanged) this.#options.changed();
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#watch);
    this.#known.clear();
  }

  /** A daemon that has just started is there when its servers are known: until then those of the last one are. */
  #decide(name: string, isChanged: boolean): void {
    const known = this.#known.get(name)!;
    const { beat, list, state: before } = known;
    if (list?.instance !== beat.instance) return;
    known.state = beat.draining ? 'draining' : 'up';
    known.shown = undefined;
    if (known.state !== before) known.since = dateOf(this.#options.clock);
    if (isChanged || known.state !== before) this.#options.changed();
  }

  #look(): unknown {
    const { clock, changed } = this.#options;
    const since = clock.now();
    return clock.setTimeout(() => {
      const now = clock.now();
      const didSleep = wasAsleep(clock, since, LOOK_MS);
      let isChanged = false;
      for (const [name, known] of [...this.#known]) {
        if (didSleep) known.heardAt = now;
        else if (now - known.heardAt >= FORGET_MS) isChanged = this.#known.delete(name) || isChanged;
        else if (now - known.heardAt >= AWAY_MS) isChanged = this.#away(known) || isChanged;
      }
      const isAnyThere = [...this.#known.values()].some(({ state }) => state !== 'away');
      this.#watch = isAnyThere ? this.#look() : undefined;
      if (isChanged) changed();
    }, LOOK_MS);
  }

  #away(known: Known): boolean {
    if (known.state === 'away') return false;
    known.state = 'away';
    known.shown = undefined;
    known.since = dateOf(this.#options.clock);
    return true;
  }
}

function formerOf(known: Known | undefined, { instance }: Beat): readonly string[] {
  if (known === undefined) return [];
  const { former, beat } = known;
  if (beat.instance === instance) return former;
  return [beat.instance, ...former.filter((one) => one !== instance)].slice(0, MOST_FORMER);
}

function nodeOf(name: string, known: Known): ClusterNode {
  known.shown ??= describe(name, known);
  return known.shown;
}

function describe(name: string, { beat, list, state, since, reports }: Known): ClusterNode {
  const { instance, version, api, load } = beat;
  const servers = (list?.servers ?? []).map((server) => ({
    ...server,
    in_flight: Object.hasOwn(load, server.name) ? (load[server.name] ?? 0) : 0,
  }));
  return { name, instance, version, api, state, since, reports, servers };
}
