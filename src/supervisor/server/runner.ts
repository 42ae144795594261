import type { ServerSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { ListsOwner } from '../catalog/lists.js';
import type { PinChecking } from './pinned-gate.js';
import type { ServerDeps } from './server-deps.js';
import type { ServerSnapshot } from './server-snapshot.js';

/** Runs the processes of one server: a `ReplicaSet`, or a `TransientPool` with a process for each call. */
export interface Runner {
  /** What runs on this node; undefined where nothing of the server may. */
  readonly here: Runner | undefined;
  /** A process is there that answers. */
  readonly isReady: boolean;
  /** What a call waits for here: at most a start, the next try, or a person, until when it is refused. */
  readonly waitsFor: 'start' | 'retry' | 'person';
  /** Calls without an outcome. */
  readonly load: number;
  /** How the last ordered stop of each process went. */
  readonly lastStops: readonly Ending[];
  send(request: CallRequest, sink: CallSink): CallHandle | undefined;
  /** Starts what its config wants to run before the first call. */
  begin(): void;
  start(): void;
  /** Stops its processes by order. `refusal`: the error of calls from now on. */
  stop(refusal: MCPError): void;
  /** Stops it for good, with the connections to other nodes that have it. */
  close(refusal: MCPError): void;
  /**
   * Its config is gone: fails the calls that wait for a process, stops the processes without a call, and restarts none of
   * the others. Call it again after each outcome.
   */
  drain(refusal: MCPError): void;
  /** Fails the calls that are with a process. Calls that wait for one are not touched. */
  cut(errorFor: (sent: boolean) => MCPError): void;
  restart(): void;
  /** Forgets the failures, and starts what only they kept from running. */
  reset(): void;
  /** A call is served elsewhere. A process whose next try takes a call gets the try all the same. */
  passedOver(): void;
  /** Has the lists read that are not fresh. Starts a process if none runs. False when none will read them. */
  discover(purpose?: StartPurpose): boolean;
  /** Has the lists read that are not fresh, by a process that runs. Starts none. */
  reread(): void;
  /** The pins, or the pin policy, have changed. */
  recheckPins(): void;
  /** Agents may want another level of log messages. */
  renewLogLevel(): void;
  /** Calls without an outcome. */
  openCalls(): BegunCall[];
  snapshot(): ServerSnapshot;
  /** Resolves when every process runs, or is known not to. */
  whenDecided(): Promise<void>;
  /** Resolves when no process is reading lists. */
  whenListsRead(): Promise<void>;
  /** Resolves when none of the present processes is left. A later order may start others. */
  whenGone(): Promise<void>;
  /** Removes its actors. Call it when nothing runs, and order nothing afterwards. */
  release(): void;
}

export interface RunnerOptions<Spec extends ServerSpec = ServerSpec> {
  /** Of its actors: one that was never used before. */
  id: string;
  spec: Spec;
  deps: ServerDeps;
  lists: ListsOwner;
  /** Absent where tools are not pinned. */
  pinChecking?: PinChecking | undefined;
  /** Has to be over before anything starts: a changed server must not run beside its predecessor. */
  predecessor: Promise<unknown>;
}
