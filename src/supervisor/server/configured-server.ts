import type { ServerSpec } from '../../config/schema/spec.js';
import type { CallHandle, CallRequest, CallSink, Outcome } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Catalog } from '../catalog/catalog.js';
import { createCatalog } from '../catalog/catalog.js';
import {
  LIST_KEYS,
  type ListKey,
  type ListName,
  type Lists,
  partsOf,
  type Reading,
} from '../catalog/lists.js';
import { replaced, stopped } from '../errors.js';
import type { EndedCall } from '../events/call-event.js';
import { Pinning } from '../pins/pinning.js';
import { toolRefusal } from './call-refusal.js';
import { Latencies } from './latencies.js';
import { Replica } from './replica.js';
import { ResourceWatch } from './resource-watch.js';
import type { ServerDeps } from './server-deps.js';
import { startTimeoutMs } from './server-settings.js';
import {
  type ServerSnapshot,
  snapshotOfReplicas,
  snapshotOfTransients,
  snapshotOfUnusable,
} from './server-snapshot.js';
import { TransientPool } from './transient-pool.js';

export interface ReadOptions {
  /** All lists are read again, also those that are known. */
  refresh?: boolean;
  /** The list that is wanted; default: all. */
  list?: ListName;
  /** Default: as long as a start may take. */
  withinMs?: number | undefined;
  /** What a start is for, if it takes one; default: a discovery. */
  purpose?: StartPurpose;
}

/** One configured server: its processes (replicas, or one a call), its lists, and the counts of its calls. */
export class ConfiguredServer {
  readonly spec: ServerSpec;
  readonly key: string;
  /** Absent where tools are not pinned. */
  readonly pinning: Pinning | undefined;
  readonly catalog: Catalog;
  readonly resources: ResourceWatch;
  readonly latencies = new Latencies();
  readonly #called: ServerDeps['called'];
  readonly #replicas: readonly Replica[];
  /** Replicas whose end would fail a request for the lists. */
  readonly #listing = new Set<Replica>();
  readonly #transients: TransientPool | undefined;
  readonly #predecessor: Promise<unknown>;
  /** Of a server that is only shown, and has no processes. */
  readonly #unusable: ServerSnapshot | undefined;
  calls = 0;
  failures = 0;

  /** `generation` makes the actors' ids new; `predecessor` has to be gone before anything starts. */
  constructor(spec: ServerSpec, generation: number, deps: ServerDeps, predecessor: Promise<unknown>) {
    this.spec = spec;
    this.key = deps.key ?? spec.name;
    this.#called = deps.called;
    this.#predecessor = predecessor;
    this.#unusable = snapshotOfUnusable(spec, deps.clock.now());
    const { clock, pins, log } = deps;
    this.pinning = pins && new Pinning(spec, pins, () => clock.now(), log);
    this.catalog = createCatalog(spec, deps, () => this.#reread(), this.pinning);
    const id = `${this.key}@${generation}`;
    const on = {
      listed: (reading: Reading) => {
        this.catalog.take(reading);
        if ('tools' in reading) this.#recheckReplicas();
      },
      outdated: (list: ListName) => this.catalog.doubt(list),
      wantsLists: () => this.catalog.isDue,
      toRead: (isAllWanted: boolean) => this.catalog.toRead(isAllWanted),
      sealed: () => {
        if (!this.#isUp) this.catalog.suspend();
      },
      left: (isTold: boolean) => this.#left(isTold),
      isWatched: () => this.resources.isWatched,
      // only a server that was connected has lists
      wasConnected: () => this.catalog.isKnown,
      pinChecking: this.pinning && {
        isStrict: () => this.pinning?.policy === 'enforce',
        refusalOf: (request: Pick<CallRequest, 'method' | 'params'>) => this.#refusalOf(request),
      },
    };
    const count = spec.enabled ? spec.replicas : 0;
    const isTransient = spec.transport === 'stdio' && spec.lifecycle === 'transient';
    const { name } = spec;
    this.resources = new ResourceWatch({ name, isTransient, wake: () => this.#wake(), note: deps.log });
    const tapped = { ...deps, open: this.resources.tap(deps.open) };
    this.#transients =
      isTransient && spec.enabled ? new TransientPool(id, spec, deps, on, predecessor) : undefined;
    this.#replicas = Array.from(
      { length: isTransient ? 0 : count },
      (_, index) => new Replica(`${id}#${index}`, spec, tapped, on, predecessor),
    );
  }

  /**
   * Starts what its config says is to run at once; the rest starts when it is first needed. `isLateComer`: it was added to
   * a herd that runs already. Where its lists are not known, it is started once to read them, so that agents which have
   * listed the herd before get a change event.
   */
  begin(isLateComer = false): void {
    if (this.spec.start === 'eager') this.start();
    else if (this.#transients?.hasSpares) this.#transients.start();
    if (isLateComer && this.spec.enabled && this.catalog.missing().length > 0) this.#discover();
  }

  start(): void {
    this.#transients?.start();
    for (const replica of this.#replicas) replica.order('start');
  }

  stop(refusal = stopped(this.spec.name)): void {
    this.#stop(refusal);
  }

  restart(): void {
    this.#transients?.restart();
    for (const replica of this.#replicas) replica.order('restart');
  }

  reset(): void {
    this.#transients?.reset();
    for (const replica of this.#replicas) replica.order('reset');
  }

  /** Stops it for good, because its config is gone. Resolves when nothing is left of it, nor of its predecessor. */
  async retire(): Promise<void> {
    this.#stop(replaced(this.spec.name));
    await Promise.all([this.whenGone(), this.#predecessor]);
    for (const replica of this.#replicas) replica.release();
  }

  /** Resolves when every process runs, or is known not to. */
  async whenDecided(): Promise<void> {
    const replicas = this.#replicas.map((replica) => replica.whenDecided());
    await Promise.all([this.#transients?.whenDecided(), ...replicas]);
  }

  /** Resolves when no process is reading lists. */
  async whenListsRead(): Promise<void> {
    await Promise.all([
      this.#transients?.whenListsRead(),
      ...this.#replicas.map((replica) => replica.whenListsRead()),
    ]);
  }

  async whenGone(): Promise<void> {
    await Promise.all([this.#transients?.whenGone(), ...this.#replicas.map((replica) => replica.whenGone())]);
  }

  /** The replica that can take it soonest takes the call; of several the least busy. */
  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    this.calls += 1;
    return this.#send(request, sink);
  }

  /** A call that was sent has its outcome. */
  settled(call: EndedCall): void {
    this.latencies.add(call.elapsedMs);
    if (!call.outcome.ok) this.failures += 1;
    this.#called?.(call);
  }

  /**
   * Its lists. A server that does not run is started if `list` (default: any) is not known. One that runs is asked again
   * with `refresh`, or when `list` has expired. Waits for the answer, for the end of the try, or for `withinMs`.
   */
  async readLists({
    refresh = false,
    list,
    withinMs = startTimeoutMs(this.spec),
    purpose = 'discovery',
  }: ReadOptions = {}): Promise<Lists> {
    const awaited = this.spec.enabled ? this.#awaited(refresh, list && partsOf(list)) : [];
    const discover = (giveUp: () => void) => this.#discover(purpose, giveUp);
    if (awaited.length > 0) await this.catalog.wait(awaited, withinMs, discover);
    return this.catalog.lists;
  }

  /** The pins, or the pin policy, have changed. */
  recheckPins(): void {
    this.catalog.recheckPins();
    this.#transients?.recheckPins();
    this.#recheckReplicas();
  }

  /** The process of the next call is not there yet, and its tools will be compared before the call passes. */
  get isComparedAnew(): boolean {
    if (this.pinning?.policy !== 'enforce' || !this.spec.loadTools) return false;
    return !this.#isUp && this.#transients?.isReady !== true;
  }

  snapshot(): ServerSnapshot {
    if (this.#unusable !== undefined) return this.#unusable;
    if (this.#transients !== undefined) return snapshotOfTransients(this.#transients);
    return snapshotOfReplicas(this.#replicas);
  }

  /** How the last ordered stop of each process went. */
  get lastStops(): Ending[] {
    const endings = this.#replicas
      .map((replica) => replica.lastStop)
      .filter((ending) => ending !== undefined);
    return [...endings, ...(this.#transients?.lastStops ?? [])];
  }

  /** A replica can be asked. */
  get #isUp(): boolean {
    return this.#replicas.some(({ isUp }) => isUp);
  }

  #send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (this.#transients !== undefined) return this.#transients.send(request, sink);
    let chosen = this.#replicas[0];
    if (this.#replicas.length > 1) {
      chosen = this.#replicas.reduce((best, replica) => (isBetter(replica, best) ? replica : best));
    }
    return chosen?.gate.send(request, sink);
  }

  /**
   * Starts a server that does not run, as a call would. Any answer will do: it proves that the server is there. It counts
   * as a call, not as `isOwn`: a subscriber waits for it.
   */
  #wake(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (outcome.ok || outcome.error.type === 'MCPProtocolError') resolve();
        else reject(outcome.error);
      };
      this.#send({ method: 'resources/list' }, { settle });
    });
  }

  /** By what it is known to offer now. */
  #refusalOf({ method, params }: Pick<CallRequest, 'method' | 'params'>): MCPError | undefined {
    return method === 'tools/call' ? toolRefusal(this, String(params?.name)) : undefined;
  }

  /** Calls that wait are checked again by the tools that are known now. */
  #recheckReplicas(): void {
    for (const replica of this.#replicas) replica.recheckPins();
  }

  #stop(refusal: MCPError): void {
    this.#transients?.stop(refusal);
    for (const replica of this.#replicas) replica.stop(refusal);
  }

  #awaited(refresh: boolean, lists: readonly ListKey[] = LIST_KEYS): ListKey[] {
    const { catalog } = this;
    if (refresh) return catalog.outdate();
    const expired = lists.filter((list) => this.#isUp && catalog.states.get(list)?.isExpired === true);
    return [...catalog.missing(lists), ...catalog.outdate(expired)];
  }

  #discover(purpose: StartPurpose = 'discovery', giveUp: () => void = () => {}): void {
    if (this.#transients?.discover(purpose) === false) giveUp();
    const replica = this.#replicas.find(({ isUp }) => isUp) ?? this.#replicas[0];
    replica?.discover(purpose);
    if (replica === undefined || this.#listing.has(replica)) return;
    // A server that cannot be started lists nothing, nor does one that dies before its lists were read.
    this.#listing.add(replica);
    void replica.whenGone().then(() => {
      this.#listing.delete(replica);
      this.catalog.giveUp();
    });
  }

  /** The next try of a list that could not be read. It starts nothing: a process that is yet to come reads all lists. */
  #reread(): void {
    this.#transients?.rediscover();
    this.#replicas.find(({ isUp }) => isUp)?.discover();
  }

  /** A call may have taken the transient process that was to read the lists: then the next one reads them. */
  #left(isTold: boolean): void {
    if (this.#transients?.hasFree === false) this.catalog.suspend();
    if (!this.catalog.isAwaited) return;
    if (!isTold || this.#transients?.discover() === false) this.catalog.giveUp();
  }
}

/** First the replica that can take a call soonest, then the least busy, then one that is connected. */
function isBetter(replica: Replica, than: Replica): boolean {
  if (replica.delay !== than.delay) return replica.delay < than.delay;
  if (replica.gate.load !== than.gate.load) return replica.gate.load < than.gate.load;
  return replica.gate.isOpen && !than.gate.isOpen;
}
