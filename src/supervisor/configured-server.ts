import type { StdioSpec } from '../config/spec.js';
import type { Detail, ServerState } from '../ipc/fleet.js';
import type { Opened } from '../link/link.js';
import type { CallHandle, CallRequest, CallSink, Outcome } from '../link/session/call.js';
import type { Ending, Failed } from '../machines/ending.js';
import { Latencies } from './latencies.js';
import { type Lists, NO_LISTS } from './lists.js';
import { Stall } from './stall.js';
import type { Surroundings } from './surroundings.js';
import { toolFilter } from './tool-filter.js';
import { Transients } from './transients.js';

/** What a server shows of itself at this moment. */
export interface View {
  state: ServerState;
  detail: Detail;
  states: { server: string; keeper: string };
  pids: number[];
  incarnation: number;
  restarts: number;
  nextRetryAt: number | undefined;
  lastError: Failed | undefined;
  failedAt: number | undefined;
  inFlight: number;
  opened: Opened | undefined;
}

/** One configured server: its processes (stalls, or one a call), its lists, and what was counted of its calls. */
export class ConfiguredServer {
  readonly spec: StdioSpec;
  readonly #clock: Surroundings['clock'];
  readonly #stalls: Stall[];
  readonly #transients: Transients | undefined;
  readonly #isVisible: (tool: string) => boolean;
  readonly #waitingForLists = new Set<() => void>();
  #lists: Lists | undefined;
  readonly latencies = new Latencies();
  calls = 0;
  failures = 0;

  /** `generation` makes the actors' ids new; `predecessor` has to be gone before anything starts. */
  constructor(spec: StdioSpec, generation: number, around: Surroundings, predecessor: Promise<unknown>) {
    this.spec = spec;
    this.#clock = around.clock;
    this.#isVisible = toolFilter(spec.tools);
    const id = `${spec.name}@${generation}`;
    const on = { listed: (lists: Lists) => this.#listed(lists), wantsLists: () => this.#lists === undefined };
    const isTransient = spec.lifecycle === 'transient';
    this.#transients = isTransient ? new Transients(id, spec, around, on) : undefined;
    const count = isTransient || !spec.enabled ? 0 : spec.replicas;
    this.#stalls = Array.from(
      { length: count },
      (_, index) => new Stall(`${id}#${index}`, spec, around, on, predecessor),
    );
  }

  /** As its config says: at once, or when it is first needed. */
  begin(): void {
    if (!this.spec.enabled) return;
    if (this.spec.start === 'eager') this.start();
    else if (this.spec.spares > 0) this.#transients?.start();
  }

  start(): void {
    this.#transients?.start();
    for (const stall of this.#stalls) stall.order('start');
  }

  stop(): void {
    this.#transients?.stop();
    for (const stall of this.#stalls) stall.order('stop');
  }

  restart(): void {
    const transients = this.#transients;
    if (transients !== undefined) {
      transients.stop();
      void transients.whenGone().then(() => transients.start());
    }
    for (const stall of this.#stalls) stall.order('restart');
  }

  reset(): void {
    for (const stall of this.#stalls) stall.order('reset');
  }

  /** Resolves when every process runs, or is known not to. */
  async whenDecided(): Promise<void> {
    await Promise.all(this.#stalls.map((stall) => stall.whenDecided()));
  }

  async whenGone(): Promise<void> {
    await Promise.all([this.#transients?.whenGone(), ...this.#stalls.map((stall) => stall.whenGone())]);
  }

  release(): void {
    for (const stall of this.#stalls) stall.release();
  }

  /** The least busy process takes the call. */
  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (this.#transients !== undefined) return this.#transients.send(request, sink);
    let chosen = this.#stalls[0];
    for (const stall of this.#stalls) if (chosen === undefined || stall.gate.load < chosen.gate.load) chosen = stall;
    return chosen?.gate.send(request, sink);
  }

  /** The same, counted. */
  call(request: CallRequest, sink: CallSink): CallHandle | undefined {
    const begun = this.#clock.now();
    this.calls += 1;
    const settle = (outcome: Outcome) => {
      this.latencies.add(this.#clock.now() - begun);
      if (!outcome.ok) this.failures += 1;
      sink.settle(outcome);
    };
    return this.send(request, { settle, progress: sink.progress });
  }

  /** What it offers, as far as it is known; hidden tools left out. */
  get lists(): Lists | undefined {
    return this.#lists;
  }

  isVisible(tool: string): boolean {
    return this.#isVisible(tool);
  }

  /** Starts a cold server for its lists, and waits for them or for the end of the try. */
  async readLists(): Promise<Lists> {
    if (this.#lists === undefined && this.spec.enabled) await this.#awaitLists();
    return this.#lists ?? NO_LISTS;
  }

  /** Forgets the lists, so that they are read again at the next need. */
  forgetLists(): void {
    this.#lists = undefined;
  }

  view(): View {
    if (this.#transients !== undefined) return this.#transientView(this.#transients);
    const views = this.#stalls.map(viewOf);
    const newest = views[0];
    if (newest === undefined) return DISABLED;
    const rest = views.slice(1);
    return {
      ...rest.reduce((shown, view) => (RANK[view.state] < RANK[shown.state] ? view : shown), newest),
      pids: views.flatMap((view) => view.pids),
      incarnation: Math.max(...views.map((view) => view.incarnation)),
      restarts: views.reduce((sum, view) => sum + view.restarts, 0),
      inFlight: views.reduce((sum, view) => sum + view.inFlight, 0),
    };
  }

  /** How the last ordered stop of each process went. */
  get lastStops(): Ending[] {
    const endings = [...this.#stalls.map((stall) => stall.lastStop), this.#transients?.lastStop];
    return endings.filter((ending) => ending !== undefined);
  }

  #listed(lists: Lists): void {
    const tools = lists.tools.filter(({ name }) => typeof name === 'string' && this.#isVisible(name));
    this.#lists = { ...lists, tools };
    for (const resolve of [...this.#waitingForLists]) resolve();
  }

  #awaitLists(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waitingForLists.delete(done);
        this.#clock.clearTimeout(timer);
        resolve();
      };
      const timer = this.#clock.setTimeout(done, this.spec.startTimeoutMs);
      this.#waitingForLists.add(done);
      if (this.#transients !== undefined) void this.#wakeForLists(this.#transients, done);
      this.#stalls[0]?.wake();
      // A server that cannot be started has nothing to list.
      void this.#stalls[0]?.whenDecided().then(() => {
        if (this.#stalls[0]?.detail !== 'running') done();
      });
    });
  }

  /** A call may have taken the process that was to list, and ended it: then the next one is asked. */
  async #wakeForLists(transients: Transients, giveUp: () => void): Promise<void> {
    while (this.#waitingForLists.has(giveUp)) {
      const ending = await transients.wake();
      if (ending === undefined || ending.kind === 'error') giveUp();
    }
  }

  #transientView(transients: Transients): View {
    const { newest, detail } = transients;
    const state = newest?.state ?? 'created';
    return {
      state: state.split('.')[0] as ServerState,
      detail,
      states: { server: state, keeper: detail },
      pids: transients.pids,
      incarnation: transients.incarnation,
      restarts: 0,
      nextRetryAt: undefined,
      lastError: transients.lastError,
      failedAt: transients.failedAt,
      inFlight: transients.inFlight,
      opened: newest?.opened,
    };
  }
}

/** Of several processes the one that needs attention is shown. */
const RANK: Record<ServerState, number> = { error: 0, disconnected: 1, connecting: 2, created: 3, connected: 4 };

const DISABLED: View = {
  state: 'created',
  detail: 'disabled',
  states: { server: 'created', keeper: 'disabled' },
  pids: [],
  incarnation: 0,
  restarts: 0,
  nextRetryAt: undefined,
  lastError: undefined,
  failedAt: undefined,
  inFlight: 0,
  opened: undefined,
};

function viewOf(stall: Stall): View {
  const { incarnation, restarts, nextRetryAt, lastError } = stall.context;
  const states = stall.states;
  return {
    state: states.server.split('.')[0] as ServerState,
    detail: stall.detail,
    states,
    pids: [...stall.pids],
    incarnation,
    restarts,
    nextRetryAt,
    lastError,
    failedAt: stall.failedAt,
    inFlight: stall.inFlight,
    opened: stall.opened,
  };
}
