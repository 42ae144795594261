import { type AnyActorLogic, type AnyActorRef, createActor } from 'xstate';
import type { ServerSpec } from '../config/spec.js';
import type {
  CallContext,
  CallParams,
  Detail,
  FleetEvent,
  Inspection,
  ReloadReport,
  Selection,
  ServerState,
  ServerStatus,
  ShutdownReport,
  ToolEntry,
  ToolResult,
} from '../ipc/fleet.js';
import type { Clock } from '../link/clock.js';
import { ServerUnavailableError } from '../link/errors.js';
import type { CallHandle, Outcome } from '../link/session/call.js';
import { topName } from '../machines/state-name.js';
import { callRefusal, reasonOf } from './call-refusal.js';
import { ConfiguredServer } from './configured-server.js';
import { type Change, Journal } from './journal.js';
import type { OpenLink } from './link-actor.js';
import { Members } from './members.js';
import { Permits } from './permits.js';
import { rootMachine } from './root.js';
import { groupMemory } from './rss.js';
import { stopAll } from './shutdown.js';
import { visibleSpec } from './spec-view.js';
import { type StatusSources, toStatus } from './status.js';
import type { Surroundings } from './surroundings.js';
import { toolEntries } from './tool-list.js';
import { toToolResult } from './tool-result.js';

export interface HerdOptions {
  clock: Clock;
  random(): number;
  open: OpenLink;
  maxStarting: number;
  log(server: string, text: string): void;
  /** Takes secrets out of every string of a value. */
  redact<T>(value: T): T;
}

/** Every configured server, under one root actor. The order of the config is the order of the herd. */
export class Herd {
  readonly #options: HerdOptions;
  readonly #root;
  readonly #journal: Journal;
  readonly #listeners = new Set<(event: FleetEvent) => void>();
  readonly #startedAt: string;
  readonly #members: Members;
  #generation = 0;
  #requests = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(options: HerdOptions) {
    this.#options = options;
    const { clock, random, open, maxStarting, log } = options;
    this.#startedAt = new Date(clock.now()).toISOString();
    this.#journal = new Journal(
      () => clock.now(),
      (text) => options.redact(text),
      (change) => this.#changed(change),
    );
    this.#root = createActor(rootMachine, { clock: timers(clock), inspect: this.#journal.inspect });
    this.#root.on('child.broke', ({ id, error }) => log(id, `a fault in toolherd itself: ${String(error)}`));
    this.#root.start();
    const keep = (id: string, logic: AnyActorLogic, input: unknown): AnyActorRef => {
      this.#root.send({ type: 'keep', id, logic, input });
      return this.#root.getSnapshot().context.children.get(id)!;
    };
    const release = (id: string) => this.#root.send({ type: 'release', id });
    const around: Surroundings = {
      clock,
      random,
      permits: new Permits(maxStarting),
      open,
      keep,
      release,
      log,
    };
    this.#members = new Members({
      create: (spec, predecessor) => new ConfiguredServer(spec, ++this.#generation, around, predecessor),
      forgotten: (name) => this.#journal.forget(name),
    });
  }

  /** Makes the herd what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    if (isDryRun) return this.#members.compare(specs);
    this.#checkOpen();
    return this.#members.replace(specs);
  }

  status(names?: readonly string[]): ServerStatus[] {
    const members = this.#members;
    for (const name of names ?? []) members.find(name);
    const shown = (name: string) => names === undefined || names.includes(name);
    const servers = members.servers.filter(({ spec }) => shown(spec.name));
    const sources: StatusSources = {
      since: (name) => this.#journal.since(name) ?? this.#startedAt,
      redact: (text) => this.#options.redact(text),
      // looked up once for all: it reads the whole process table
      memory: groupMemory(servers.flatMap((server) => server.view().pids)),
    };
    return servers.map((server) => toStatus(server, sources));
  }

  async order(
    order: 'start' | 'stop' | 'restart' | 'reset',
    selection: Selection,
    wait = false,
  ): Promise<ServerStatus[]> {
    this.#checkOpen();
    const members = this.#members;
    const servers =
      'all' in selection ? members.servers : selection.servers.map((name) => members.find(name));
    const enabled = servers.filter(({ spec }) => spec.enabled);
    for (const server of enabled) server[order]();
    if (wait)
      await Promise.all(
        enabled.map((server) => (order === 'stop' ? server.whenGone() : server.whenDecided())),
      );
    return this.status(servers.map(({ spec }) => spec.name));
  }

  async tools(name?: string, refresh = false): Promise<ToolEntry[]> {
    const members = this.#members;
    const asked = name === undefined ? members.servers : [members.find(name)];
    await Promise.all(asked.map((server) => server.readLists(refresh)));
    // Named in the whole herd, as far as it is known: what a tool is called must not depend on who asks.
    const entries = toolEntries(members.servers);
    return entries.filter(({ server }) => name === undefined || server === name);
  }

  call(params: CallParams, { signal, onProgress }: CallContext = {}): Promise<ToolResult> {
    const { clock, redact, log } = this.#options;
    const begun = clock.now();
    const requestId = params.request_id ?? `${process.pid}-${++this.#requests}`;
    return new Promise((resolve) => {
      let incarnation: number | null = null;
      const settle = (outcome: Outcome) => {
        signal?.removeEventListener('abort', abort);
        const elapsedMs = clock.now() - begun;
        const unknown = (type: string) =>
          log(params.server, `content of unknown type '${type}' was kept as it came`);
        resolve(toToolResult(outcome, { params, requestId, incarnation, elapsedMs, redact, unknown }));
      };
      let handle: CallHandle | undefined;
      const abort = () => handle?.cancel(reasonOf(signal));
      const refusal = callRefusal(this.#members, params, signal);
      if (refusal !== undefined) {
        settle({ ok: false, error: refusal });
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      const request = {
        method: 'tools/call',
        params: { name: params.tool, arguments: params.arguments ?? {} },
        timeoutMs: params.timeout_ms,
      };
      const routed = (to: number) => {
        incarnation = to;
      };
      handle = this.#members.get(params.server)?.call(request, { settle, progress: onProgress, routed });
    });
  }

  inspect(name: string): Inspection {
    const server = this.#members.find(name);
    return {
      server: name,
      status: this.status([name])[0]!,
      spec: visibleSpec(server.spec, this.#options.redact),
      snapshot: server.view().states,
      journal: this.#journal.of(name),
    };
  }

  subscribe(listen: (event: FleetEvent) => void): () => void {
    this.#listeners.add(listen);
    return () => void this.#listeners.delete(listen);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#state = 'ending';
    const { servers, leaving } = this.#members;
    return stopAll(servers, { clock: this.#options.clock, graceMs, kill, leaving });
  }

  /** An order that came in the middle of the end would begin it all anew. */
  #checkOpen(): void {
    if (this.#state === 'open') return;
    throw new ServerUnavailableError('the daemon is shutting down', { retryable: true, fix: 'toolherd up' });
  }

  #changed(change: Change): void {
    const view = this.#listeners.size === 0 ? undefined : this.#members.get(change.server)?.view();
    if (view === undefined) return;
    const { server, incarnation, cause, at, chart } = change;
    const to = topName(change.to);
    // The machine that changed is in the middle of its step: the other one shows where it stands.
    const state = chart === 'server' ? (to as ServerState) : view.state;
    const detail = chart === 'keeper' ? (to as Detail) : view.detail;
    const event: FleetEvent = { topic: 'state', server, incarnation, state, detail, cause, at };
    for (const listen of this.#listeners) {
      // an actor is in the middle of its step here: what a listener throws would break it
      try {
        listen(event);
      } catch (error) {
        this.#options.log(server, `a listener failed: ${String(error)}`);
      }
    }
  }
}

/** XState knows timers only; the clock is ours. */
function timers(clock: Clock) {
  return {
    setTimeout: (fire: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fire, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
}
