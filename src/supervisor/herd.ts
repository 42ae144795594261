import { type AnyActorLogic, type AnyActorRef, createActor } from 'xstate';
import type { ServerSpec } from '../config/spec.js';
import type {
  CallContext,
  CallParams,
  Detail,
  FleetEvent,
  Inspection,
  McpResult,
  PromptEntry,
  PromptParams,
  ReloadReport,
  ResourceLists,
  ResourceParams,
  Selection,
  ServerState,
  ServerStatus,
  ShutdownReport,
  ToolEntry,
  ToolResult,
} from '../ipc/fleet.js';
import type { Clock } from '../link/clock.js';
import { type MCPError, ServerUnavailableError } from '../link/errors.js';
import type { LinkLog } from '../link/link.js';
import type { CallHandle, Outcome } from '../link/session/call.js';
import { topName } from '../machines/state-name.js';
import { callRefusal, reasonOf } from './call-refusal.js';
import type { CatalogChange } from './catalog-change.js';
import type { CatalogStore } from './catalog-store.js';
import { ConfiguredServer } from './configured-server.js';
import { type EarOptions, Ears } from './ears.js';
import { type Change, Journal } from './journal.js';
import type { OpenLink } from './link-actor.js';
import { Lookups } from './lookups.js';
import { Members } from './members.js';
import { News, type Topic } from './news.js';
import { Offers } from './offers.js';
import { Permits } from './permits.js';
import { type KeepText, limitResult } from './result-limit.js';
import { rootMachine } from './root.js';
import { groupMemory } from './rss.js';
import { stopAll } from './shutdown.js';
import { identityOf, visibleSpec } from './spec-view.js';
import { type StatusSources, toStatus } from './status.js';
import type { Surroundings } from './surroundings.js';
import { toToolResult } from './tool-result.js';

export interface HerdOptions extends EarOptions {
  random(): number;
  open: OpenLink;
  maxStarting: number;
  /** Where text over `result_limit` goes. */
  keepText?: KeepText;
  /** What servers offered in an earlier life. */
  catalogs?: CatalogStore;
}

/** Whoever calls without a name. */
const LOCAL = 'local';

/** Every configured server, under one root actor. The order of the config is the order of the herd. */
export class Herd {
  readonly #options: HerdOptions;
  readonly #root;
  readonly #journal: Journal;
  readonly #news = new News((server, error) =>
    this.#options.log(server, `a listener failed: ${String(error)}`),
  );
  readonly #ears: Ears;
  readonly #startedAt: string;
  readonly #members: Members;
  readonly #offers: Offers;
  readonly #lookups: Lookups;
  #generation = 0;
  #requests = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(options: HerdOptions) {
    this.#options = options;
    const { clock, random, maxStarting } = options;
    this.#ears = new Ears(options, this.#news, (name) => this.#members.get(name)?.view().incarnation ?? 0);
    const open = this.#ears.overhear(options.open);
    const log = (server: string, text: string) => this.#ears.note(server, text);
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
      catalogs: options.catalogs,
      offersChanged: (server, change) => this.#offersChanged(server, change),
    };
    this.#members = new Members({
      create: (spec, predecessor) => new ConfiguredServer(spec, ++this.#generation, around, predecessor),
      forgotten: (name) => this.#journal.forget(name),
    });
    this.#offers = new Offers(this.#members, clock);
    const redact = (text: string) => options.redact(text);
    this.#lookups = new Lookups({ members: this.#members, offers: this.#offers, redact });
  }

  /** Makes the herd what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    if (isDryRun) return this.#members.compare(specs);
    this.#checkOpen();
    const report = this.#members.replace(specs);
    this.#offers.changed();
    void this.#options.catalogs?.seen(specs.map(identityOf));
    return report;
  }

  /** Throws where there is no such server. */
  specOf(name: string): ServerSpec {
    return this.#members.find(name).spec;
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

  tools(server?: string, refresh?: boolean): Promise<ToolEntry[]> {
    return this.#offers.tools(server, refresh);
  }

  prompts(server?: string, refresh?: boolean): Promise<PromptEntry[]> {
    return this.#offers.prompts(server, refresh);
  }

  resources(server?: string, refresh?: boolean): Promise<ResourceLists> {
    return this.#offers.resources(server, refresh);
  }

  prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    return this.#lookups.prompt(params, { caller: LOCAL, ...context });
  }

  resource(params: ResourceParams, context: CallContext = {}): Promise<McpResult> {
    return this.#lookups.resource(params, { caller: LOCAL, ...context });
  }

  call(params: CallParams, context: CallContext = {}): Promise<ToolResult> {
    const { signal, onProgress, onRequest, caller = LOCAL } = context;
    const { clock, redact } = this.#options;
    const begun = clock.now();
    const requestId = params.request_id ?? `${process.pid}-${++this.#requests}`;
    return new Promise((resolve) => {
      let incarnation: number | null = null;
      const settle = (outcome: Outcome) => {
        signal?.removeEventListener('abort', abort);
        const elapsedMs = clock.now() - begun;
        const unknown = (type: string) =>
          this.#ears.note(params.server, `content of unknown type '${type}' was kept as it came`);
        const about = { params, requestId, incarnation, elapsedMs, redact, unknown };
        resolve(this.#limited(params.server, toToolResult(outcome, about)));
      };
      let handle: CallHandle | undefined;
      const abort = () => handle?.cancel(reasonOf(signal));
      const begin = (timeoutMs: number | undefined) => {
        const server = this.#members.get(params.server);
        const tool = server === undefined ? params.tool : this.#offers.ownName('tools', server, params.tool);
        const refusal = callRefusal(this.#members, { server: params.server, tool }, signal);
        if (refusal !== undefined) {
          settle({ ok: false, error: refusal });
          return;
        }
        signal?.addEventListener('abort', abort, { once: true });
        const request = {
          method: 'tools/call',
          params: { name: tool, arguments: params.arguments ?? {} },
          timeoutMs,
          caller,
        };
        const routed = (to: number) => {
          incarnation = to;
        };
        const sink = { settle, progress: onProgress, ask: onRequest, routed };
        handle = server?.call(request, sink);
      };
      const server = this.#members.get(params.server);
      const isSure = server === undefined || !this.#offers.isUnsure('tools', server, params.tool);
      if (isSure || signal?.aborted) begin(params.timeout_ms);
      else {
        const known = this.#offers.makeSure(server, params.timeout_ms, signal);
        void known.then(begin, (error: MCPError) => settle({ ok: false, error }));
      }
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

  subscribe<T extends Topic>(
    topics: readonly T[],
    listen: (event: Extract<FleetEvent, { topic: T }>) => void,
  ): () => void {
    return this.#news.subscribe(topics, listen);
  }

  /** A line that a server printed: it is in the log already. */
  printed(server: string, incarnation: number, line: LinkLog): void {
    this.#ears.printed(server, incarnation, line);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#state = 'ending';
    const { servers, leaving } = this.#members;
    return stopAll(servers, { clock: this.#options.clock, graceMs, kill, leaving });
  }

  #limited(server: string, result: ToolResult): ToolResult | Promise<ToolResult> {
    const limit = this.#members.get(server)?.spec.resultLimit ?? 0;
    const { keepText = async () => undefined } = this.#options;
    return limit === 0 ? result : limitResult(result, limit, keepText);
  }

  /** An order that came in the middle of the end would begin it all anew. */
  #checkOpen(): void {
    if (this.#state === 'open') return;
    throw new ServerUnavailableError('the daemon is shutting down', { retryable: true, fix: 'toolherd up' });
  }

  #offersChanged(server: string, change: CatalogChange): void {
    this.#offers.changed();
    this.#news.tell('catalog', server, () => ({
      ...change,
      at: new Date(this.#options.clock.now()).toISOString(),
    }));
  }

  #changed(change: Change): void {
    this.#news.tell('state', change.server, () => {
      const view = this.#members.get(change.server)?.view();
      if (view === undefined) return undefined;
      const { incarnation, cause, at, chart } = change;
      const to = topName(change.to);
      // The machine that changed is in the middle of its step: the other one shows where it stands.
      const state = chart === 'server' ? (to as ServerState) : view.state;
      const detail = chart === 'keeper' ? (to as Detail) : view.detail;
      return { incarnation, state, detail, cause, at };
    });
  }
}

/** XState knows timers only; the clock is ours. */
function timers(clock: Clock) {
  return {
    setTimeout: (fire: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fire, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
}
