import type { ServerSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import { type MCPError, MCPProtocolError } from '../../shared/call-errors.js';
import type { CallSink, Outcome } from '../../shared/call-sink.js';
import { dateOf } from '../../shared/clock.js';
import { seconds } from '../../shared/text/seconds.js';
import type { Catalog } from '../catalog/catalog.js';
import { createCatalog } from '../catalog/catalog.js';
import { LIST_KEYS, type ListKey, type ListName, type Lists, partsOf } from '../catalog/lists.js';
import { DRAIN_MS, replaced, stopped } from '../errors.js';
import type { EndedCall } from '../events/call-event.js';
import { Pinning } from '../pins/pinning.js';
import { createRunner } from './create-runner.js';
import { toolRefusal } from './refusal.js';
import { ResourceWatch } from './resource-watch.js';
import type { Runner } from './runner.js';
import type { ServerDeps } from './server-deps.js';
import { listTimeoutMs } from './server-settings.js';
import { type ServerSnapshot, snapshotOfUnusable } from './server-snapshot.js';

/** How many durations of calls are kept. */
const LATENCIES = 512;

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

/** What runs of a server on this node, as other nodes of the cluster are to know it. */
export interface OwnReplicas extends Pick<ServerSnapshot, 'state' | 'detail'> {
  isReady: boolean;
  /** A call would start a process. */
  mayStart: boolean;
  /** Calls without an outcome: those that wait, too, and not those that other nodes have. */
  inFlight: number;
}

/** One configured server: its processes (replicas, or one a call), its lists, and the counts of its calls. */
export class ConfiguredServer {
  readonly spec: ServerSpec;
  readonly key: string;
  /** A date. */
  readonly addedAt: number;
  /** Absent where tools are not pinned. */
  readonly pinning: Pinning | undefined;
  readonly catalog: Catalog;
  readonly resources: ResourceWatch;
  readonly latencies = new Latencies();
  readonly #deps: ServerDeps;
  readonly #runner: Runner;
  readonly #predecessor: Promise<unknown>;
  /** Of a server that is only shown, and has no processes. */
  readonly #unusable: ServerSnapshot | undefined;
  /** Ends the wait for the calls in flight; undefined unless it waits. */
  #endDrain: (() => void) | undefined;
  calls = 0;
  failures = 0;

  /** `generation` makes the actors' ids new; `predecessor` has to be gone before anything starts. */
  constructor(spec: ServerSpec, generation: number, deps: ServerDeps, predecessor: Promise<unknown>) {
    this.spec = spec;
    this.key = deps.key ?? spec.name;
    this.addedAt = dateOf(deps.clock);
    this.#deps = deps;
    this.#predecessor = predecessor;
    this.#unusable = snapshotOfUnusable(spec, this.addedAt);
    const { clock, pins, log } = deps;
    this.pinning = pins && new Pinning(spec, pins, () => dateOf(clock), log);
    // the next try of a list starts no process: one that is yet to come reads all lists
    this.catalog = createCatalog(spec, deps, () => this.#runner.reread(), this.pinning);
    const isTransient = spec.transport === 'stdio' && spec.lifecycle === 'transient';
    const { name } = spec;
    this.resources = new ResourceWatch({
      ...{ name, isTransient, note: log },
      isHere: (opened) => opened === spec,
      wake: (ownOnly) => this.#wake(ownOnly),
    });
    const pinChecking = this.pinning && {
      isStrict: () => this.pinning?.policy === 'enforce',
      refusalOf: (request: Pick<CallRequest, 'method' | 'params'>) => this.#refusalOf(request),
    };
    const id = `${this.key}@${generation}`;
    this.#runner = createRunner({
      ...{ id, spec, lists: this.catalog, pinChecking, predecessor },
      deps: isTransient ? deps : { ...deps, open: this.resources.tap(deps.open) },
      isWatched: () => this.resources.isWatched,
      isWatchedAnywhere: () => this.resources.isWatchedAnywhere,
      // only a server that was connected has lists
      wasConnected: () => this.catalog.wasRead(),
      isTriedUncalled: () => this.#isTriedUncalled(),
    });
  }

  /**
   * Starts what its config says is to run at once; the rest starts when it is first needed. `isLateComer`: it was added to
   * a herd that runs already. Where its lists are not known, it is started once to read them, so that agents which have
   * listed the herd before get a change event.
   */
  begin(isLateComer = false): void {
    this.#runner.begin();
    if (isLateComer && this.spec.enabled && this.catalog.missing().length > 0) this.#runner.discover();
  }

  start(): void {
    this.#runner.start();
  }

  /** By order. Other nodes of the cluster that have it go on to serve it. */
  stop(): void {
    this.#endDrain?.();
    this.#runner.stop(stopped(this.spec.name));
  }

  /** For good. `refusal`: the error of calls from now on. */
  close(refusal: MCPError): void {
    this.#endDrain?.();
    this.#runner.close(refusal);
  }

  restart(): void {
    this.#runner.restart();
  }

  reset(): void {
    this.#runner.reset();
  }

  /**
   * Stops it for good, because its config is gone. Resolves when nothing is left of it, nor of its predecessor. `drains`:
   * it first answers its calls in flight, within `DRAIN_MS`.
   */
  async retire(drains = true): Promise<void> {
    if (drains && this.#inFlight > 0) await this.#drain();
    else this.close(replaced(this.spec.name));
    await Promise.all([this.whenGone(), this.#predecessor]);
    this.#runner.release();
  }

  whenDecided(): Promise<void> {
    return this.#runner.whenDecided();
  }

  whenListsRead(): Promise<void> {
    return this.#runner.whenListsRead();
  }

  whenGone(): Promise<void> {
    return this.#runner.whenGone();
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    this.calls += 1;
    return this.#runner.send(request, sink);
  }

  /** A call that was sent has its outcome. */
  settled(call: EndedCall): void {
    this.latencies.add(call.elapsedMs);
    if (!call.outcome.ok) this.failures += 1;
    this.#deps.called?.(call);
    if (this.#endDrain === undefined) return;
    if (this.#inFlight === 0) this.#endDrain();
    else this.#runner.drain(replaced(this.spec.name));
  }

  /**
   * Its lists. A server that does not run is started if `list` (default: any) is not known. One that runs is asked again
   * with `refresh`, or when `list` has expired. Waits for the answer, for the end of the try, or for `withinMs`.
   */
  async readLists({
    refresh = false,
    list,
    withinMs = listTimeoutMs(this.spec),
    purpose = 'discovery',
  }: ReadOptions = {}): Promise<Lists> {
    const awaited = this.spec.enabled ? this.#awaited(refresh, list && partsOf(list)) : [];
    const discover = (giveUp: () => void) => {
      if (!this.#runner.discover(purpose)) giveUp();
    };
    if (awaited.length > 0) await this.catalog.wait(awaited, withinMs, discover);
    return this.catalog.knownLists();
  }

  /** Agents may want another level of its log messages. */
  renewLogLevel(): void {
    this.#runner.renewLogLevel();
  }

  /** The pins, or the pin policy, have changed. */
  recheckPins(): void {
    this.catalog.recheckPins();
    this.#runner.recheckPins();
  }

  /** The process of the next call is not there yet, and its tools will be compared before the call passes. */
  get isComparedAnew(): boolean {
    if (this.pinning?.policy !== 'enforce' || !this.spec.loadTools) return false;
    return !this.#runner.isReady;
  }

  /** Its calls without an outcome, as far as they have reached it. */
  openCalls(): BegunCall[] {
    return this.#runner.openCalls();
  }

  /** What runs on this node; undefined where nothing of the server may. */
  here(): OwnReplicas | undefined {
    const { here } = this.#runner;
    if (here === undefined || !this.spec.enabled) return undefined;
    const { state, detail } = here.snapshot();
    const mayStart = here.waitsFor === 'start';
    return { state, detail, isReady: here.isReady, mayStart, inFlight: here.load };
  }

  snapshot(): ServerSnapshot {
    return this.#unusable ?? this.#runner.snapshot();
  }

  /** How the last ordered stop of each process went. */
  get lastStops(): readonly Ending[] {
    return this.#runner.lastStops;
  }

  /**
   * No call would make the trial of a quarantine: agents do not see what has unknown lists. An eager server is to run
   * without a call.
   */
  #isTriedUncalled(): boolean {
    const { restart, start } = this.spec;
    return restart !== 'never' && (start === 'eager' || this.catalog.missing().length > 0);
  }

  get #inFlight(): number {
    return this.snapshot().inFlight;
  }

  /**
   * Stops it when its calls in flight have ended, or when the time is over. At once with the last outcome: a process that
   * crashes here is not started again. Calls that only wait for a start fail at once.
   */
  #drain(): Promise<void> {
    const { clock, log } = this.#deps;
    const { name } = this.spec;
    const calls = this.#inFlight === 1 ? 'call in flight' : `${this.#inFlight} calls in flight`;
    log(`its config has changed; it is stopped after its ${calls}, or after ${seconds(DRAIN_MS)}`);
    return new Promise((resolve) => {
      const late = () => {
        this.#endDrain?.();
        this.#runner.cut((sent) => replaced(name, sent));
      };
      const timer = clock.setTimeout(late, DRAIN_MS);
      this.#endDrain = () => {
        this.#endDrain = undefined;
        clock.clearTimeout(timer);
        this.#runner.close(replaced(name));
        resolve();
      };
      this.#runner.drain(replaced(name));
    });
  }

  /**
   * Starts a server that does not run, as a call would. Any answer will do: it proves that the server is there. It counts
   * as a call, not as `isOwn`: a subscriber waits for it.
   */
  #wake(ownOnly: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (outcome.ok || outcome.error instanceof MCPProtocolError) resolve();
        else reject(outcome.error);
      };
      this.#runner.send({ method: 'resources/list', ownOnly }, { settle });
    });
  }

  /** By what it is known to offer now. */
  #refusalOf({ method, params }: Pick<CallRequest, 'method' | 'params'>): MCPError | undefined {
    return method === 'tools/call' ? toolRefusal(this, String(params?.name)) : undefined;
  }

  #awaited(refresh: boolean, lists: readonly ListKey[] = LIST_KEYS): ListKey[] {
    const { catalog } = this;
    if (refresh) return catalog.outdate();
    const states = catalog.listStates();
    const expired = lists.filter((list) => this.#runner.isReady && states.get(list)?.isExpired === true);
    return [...catalog.missing(lists), ...catalog.outdate(expired)];
  }
}

/** The durations of the latest calls, for quantiles. Adding one costs a store. */
export class Latencies {
  readonly #ring = new Float64Array(LATENCIES);
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count % LATENCIES] = ms;
    this.#count += 1;
  }

  /** Both at once, since most of the time goes into sorting: 20 µs. */
  percentiles(): { p50: number | null; p99: number | null } {
    const sorted = this.#sorted();
    return { p50: quantileOf(sorted, 0.5), p99: quantileOf(sorted, 0.99) };
  }

  quantile(share: number): number | null {
    return quantileOf(this.#sorted(), share);
  }

  #sorted(): Float64Array {
    return this.#ring.slice(0, Math.min(this.#count, LATENCIES)).sort();
  }
}

/** Null where there is none. */
function quantileOf(sorted: Float64Array, share: number): number | null {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return value === undefined ? null : Math.round(value * 100) / 100;
}
