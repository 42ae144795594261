import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { ListsOwner, Reading } from '../catalog/lists.js';
import { Replica, type ReplicaOptions } from './replica.js';
import type { Runner } from './runner.js';
import { DISABLED, type ServerSnapshot } from './server-snapshot.js';

/** Of several replicas status shows the one that needs attention, and one at rest only if all are. */
const RANK: Record<ServerSnapshot['state'], number> = {
  error: 0,
  connecting: 1,
  connected: 2,
  disconnected: 3,
  created: 4,
};

/** The replicas of one server. A disabled server has none. */
export class ReplicaSet implements Runner {
  readonly here = this;
  readonly #replicas: readonly Replica[];
  readonly #lists: ListsOwner;
  /** Replicas whose end would fail a request for the lists. */
  readonly #listing = new Set<Replica>();

  constructor(options: ReplicaOptions, count: number) {
    this.#lists = options.lists;
    this.#replicas = Array.from({ length: count }, (_, index) => {
      const compared = (reading: Reading) => {
        if ('tools' in reading) this.recheckPins();
      };
      const sealed = () => {
        if (!this.isReady) this.#lists.suspend();
      };
      return new Replica({ ...options, id: `${options.id}#${index}`, compared, sealed });
    });
  }

  get isReady(): boolean {
    return this.#replicas.some(({ isUp }) => isUp);
  }

  get waitsFor(): Replica['waitsFor'] {
    let soonest: Replica['waitsFor'] = 'person';
    for (const { waitsFor } of this.#replicas) if (SOONEST[waitsFor] < SOONEST[soonest]) soonest = waitsFor;
    return soonest;
  }

  get load(): number {
    let load = 0;
    for (const { gate } of this.#replicas) load += gate.load;
    return load;
  }

  get lastStops(): Ending[] {
    return this.#replicas.flatMap(({ lastStop }) => lastStop ?? []);
  }

  /** The replica that can take it soonest takes the call; of several the least busy. */
  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    let chosen = this.#replicas[0];
    for (let index = 1; index < this.#replicas.length; index += 1) {
      const replica = this.#replicas[index]!;
      if (isBetter(replica, chosen!)) chosen = replica;
    }
    if (this.#replicas.length > 1) this.#tryOthers(chosen);
    return chosen?.gate.send(request, sink);
  }

  passedOver(): void {
    this.#tryOthers(undefined);
  }

  /** A replica that is quarantined gets no call while another takes calls, but a call makes its try. */
  #tryOthers(chosen: Replica | undefined): void {
    for (const replica of this.#replicas)
      if (replica !== chosen && replica.isTrialDue) replica.discover('use');
  }

  begin(): void {
    for (const replica of this.#replicas) if (replica.isEager) replica.order('start');
  }

  start(): void {
    for (const replica of this.#replicas) replica.order('start');
  }

  stop(refusal: MCPError): void {
    for (const replica of this.#replicas) replica.stop(refusal);
  }

  close(refusal: MCPError): void {
    this.stop(refusal);
  }

  drain(refusal: MCPError): void {
    for (const replica of this.#replicas) replica.drain(refusal);
  }

  cut(errorFor: (sent: boolean) => MCPError): void {
    for (const replica of this.#replicas) replica.cut(errorFor);
  }

  restart(): void {
    for (const replica of this.#replicas) replica.order('restart');
  }

  reset(): void {
    for (const replica of this.#replicas) replica.order('reset');
  }

  discover(purpose?: StartPurpose): boolean {
    const replica = this.#replicas.find(({ isUp }) => isUp) ?? this.#replicas[0];
    if (replica === undefined) return false;
    replica.discover(purpose);
    if (this.#listing.has(replica)) return true;
    // A server that cannot be started lists nothing, nor does one that dies before its lists were read.
    this.#listing.add(replica);
    void replica.whenGone().then(() => {
      this.#listing.delete(replica);
      this.#lists.giveUp();
    });
    return true;
  }

  reread(): void {
    this.#replicas.find(({ isUp }) => isUp)?.discover();
  }

  /** Calls that wait are checked again by the tools that are known now. */
  recheckPins(): void {
    for (const replica of this.#replicas) replica.recheckPins();
  }

  renewLogLevel(): void {
    for (const replica of this.#replicas) replica.renewLogLevel();
  }

  openCalls(): BegunCall[] {
    return this.#replicas.flatMap((replica) => replica.openCalls());
  }

  snapshot(): ServerSnapshot {
    const snapshots = this.#replicas.map((replica) => replica.snapshot());
    if (snapshots.length === 0) return DISABLED;
    return {
      ...snapshots.reduce((shown, one) => (RANK[one.state] < RANK[shown.state] ? one : shown)),
      pids: snapshots.flatMap(({ pids }) => pids),
      incarnation: Math.max(...snapshots.map(({ incarnation }) => incarnation)),
      restarts: snapshots.reduce((sum, { restarts }) => sum + restarts, 0),
      inFlight: snapshots.reduce((sum, { inFlight }) => sum + inFlight, 0),
    };
  }

  async whenDecided(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.whenDecided()));
  }

  async whenListsRead(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.whenListsRead()));
  }

  async whenGone(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.whenGone()));
  }

  release(): void {
    for (const replica of this.#replicas) replica.release();
  }
}

const SOONEST = { start: 0, retry: 1, person: 2 } as const;

/** First the replica that can take a call soonest, then the least busy, then one that is connected. */
function isBetter(replica: Replica, than: Replica): boolean {
  const later = SOONEST[replica.waitsFor] - SOONEST[than.waitsFor];
  if (later !== 0) return later < 0;
  if (replica.gate.load !== than.gate.load) return replica.gate.load < than.gate.load;
  return replica.gate.isOpen && !than.gate.isOpen;
}
