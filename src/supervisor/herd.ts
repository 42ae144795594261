import { type AnyActorLogic, type AnyActorRef, createActor } from 'xstate';
import type { ServerSpec, StdioSpec } from '../config/spec.js';
import type {
  CallContext,
  CallParams,
  FleetEvent,
  Inspection,
  ReloadReport,
  Selection,
  ServerStatus,
  ShutdownReport,
  ToolEntry,
  ToolResult,
} from '../ipc/fleet.js';
import type { Clock } from '../link/clock.js';
import { ServerUnavailableError } from '../link/errors.js';
import type { Outcome } from '../link/session/call.js';
import { didYouMean } from '../near-miss.js';
import { ConfiguredServer } from './configured-server.js';
import { MCPToolNotFoundError, ServerNotFoundError } from './errors.js';
import { exposedNames } from './exposed-name.js';
import { type Change, Journal } from './journal.js';
import type { OpenLink } from './link-actor.js';
import { Permits } from './permits.js';
import { rootMachine } from './root.js';
import { identityOf, visibleSpec } from './spec-view.js';
import { type StatusSources, toStatus, unsupportedStatus } from './status.js';
import type { Surroundings } from './surroundings.js';
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
  readonly #around: Surroundings;
  readonly #listeners = new Set<(event: FleetEvent) => void>();
  readonly #startedAt: string;
  #servers = new Map<string, ConfiguredServer>();
  /** Entries of transports that cannot be reached yet; shown, never started. */
  #unsupported = new Map<string, ServerSpec>();
  #generation = 0;
  #requests = 0;

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
    this.#around = { clock, random, permits: new Permits(maxStarting), open, keep, release, log };
  }

  /** Makes the herd what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    const before = new Map([...this.#servers].map(([name, { spec }]) => [name, identityOf(spec)]));
    for (const [name, spec] of this.#unsupported) before.set(name, identityOf(spec));
    const report: ReloadReport = { added: [], removed: [], changed: [], unchanged: [] };
    for (const spec of specs) {
      const known = before.get(spec.name);
      const list = known === undefined ? 'added' : known === identityOf(spec) ? 'unchanged' : 'changed';
      report[list].push(spec.name);
    }
    const names = new Set(specs.map(({ name }) => name));
    report.removed = [...before.keys()].filter((name) => !names.has(name));
    if (!isDryRun) this.#replace(specs, new Set(report.unchanged));
    return report;
  }

  status(names?: readonly string[]): ServerStatus[] {
    for (const name of names ?? []) this.#spec(name);
    const shown = (name: string) => names === undefined || names.includes(name);
    const sources: StatusSources = {
      since: (name) => this.#journal.since(name) ?? this.#startedAt,
      redact: (text) => this.#options.redact(text),
    };
    return [
      ...[...this.#servers.values()].filter(({ spec }) => shown(spec.name)).map((server) => toStatus(server, sources)),
      ...[...this.#unsupported.values()]
        .filter(({ name }) => shown(name))
        .map((spec) => unsupportedStatus(spec, this.#startedAt)),
    ];
  }

  async order(order: 'start' | 'stop' | 'restart' | 'reset', selection: Selection, wait = false): Promise<ServerStatus[]> {
    const servers = 'all' in selection ? [...this.#servers.values()] : selection.servers.map((name) => this.#find(name));
    const enabled = servers.filter(({ spec }) => spec.enabled);
    for (const server of enabled) server[order]();
    if (wait) await Promise.all(enabled.map((server) => (order === 'stop' ? server.whenGone() : server.whenDecided())));
    return this.status(servers.map(({ spec }) => spec.name));
  }

  async tools(name?: string, refresh = false): Promise<ToolEntry[]> {
    const servers = name === undefined ? [...this.#servers.values()] : [this.#find(name)];
    if (refresh) for (const server of servers) server.forgetLists();
    const lists = await Promise.all(servers.map(async (server) => ({ server, ...(await server.readLists()) })));
    const tools = lists.flatMap(({ server, tools: own }) =>
      own.map((tool) => ({ server: server.spec.name, name: String(tool.name), tool })),
    );
    const exposed = exposedNames(tools);
    return tools.map(({ server, name: own, tool: { name: _, description, inputSchema, ...more } }, index) => ({
      ...more,
      server,
      name: own,
      exposed_name: exposed[index]!,
      description: typeof description === 'string' ? description : null,
      input_schema: inputSchema ?? null,
    }));
  }

  call(params: CallParams, { signal, onProgress }: CallContext = {}): Promise<ToolResult> {
    const { clock, redact, log } = this.#options;
    const begun = clock.now();
    const requestId = params.request_id ?? `${process.pid}-${++this.#requests}`;
    return new Promise((resolve) => {
      let server: ConfiguredServer | undefined;
      const settle = (outcome: Outcome) => {
        signal?.removeEventListener('abort', abort);
        const incarnation = server?.view().incarnation ?? null;
        const elapsedMs = clock.now() - begun;
        const unknown = (type: string) => log(params.server, `content of unknown type '${type}' was kept as it came`);
        resolve(toToolResult(outcome, { params, requestId, incarnation, elapsedMs, redact, unknown }));
      };
      let handle: { cancel(reason?: string): void } | undefined;
      const abort = () => handle?.cancel(signal?.reason instanceof Error ? signal.reason.message : undefined);
      const refusal = this.#refusal(params);
      if (refusal !== undefined) {
        settle({ ok: false, error: refusal });
        return;
      }
      server = this.#servers.get(params.server);
      signal?.addEventListener('abort', abort, { once: true });
      const request = {
        method: 'tools/call',
        params: { name: params.tool, arguments: params.arguments ?? {} },
        timeoutMs: params.timeout_ms,
      };
      handle = server?.call(request, { settle, progress: onProgress });
      if (signal?.aborted) abort();
    });
  }

  inspect(name: string): Inspection {
    const spec = this.#spec(name);
    const { states } = this.#servers.get(name)?.view() ?? { states: { server: 'created', keeper: 'disabled' } };
    return {
      server: name,
      status: this.status([name])[0]!,
      spec: visibleSpec(spec, this.#options.redact),
      snapshot: states,
      journal: this.#journal.of(name),
    };
  }

  subscribe(listen: (event: FleetEvent) => void): () => void {
    this.#listeners.add(listen);
    return () => void this.#listeners.delete(listen);
  }

  /** Stops all at once; `kill` is called when the grace is over and something still runs. */
  async shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    const { clock } = this.#options;
    const running = [...this.#servers.values()].filter((server) => server.view().pids.length > 0);
    const before = new Map(running.map((server) => [server, server.lastStops]));
    for (const server of this.#servers.values()) server.stop();
    let timer: unknown;
    const late = new Promise<'late'>((resolve) => {
      timer = clock.setTimeout(() => resolve('late'), graceMs);
    });
    const gone = Promise.all([...this.#servers.values()].map((server) => server.whenGone()));
    if ((await Promise.race([gone, late])) === 'late') await kill();
    await gone;
    clock.clearTimeout(timer);
    const wasKilled = (server: ConfiguredServer) =>
      server.lastStops.some((ending) => !before.get(server)?.includes(ending) && 'killed' in ending && ending.killed);
    const names = (servers: ConfiguredServer[]) => servers.map(({ spec }) => spec.name);
    return {
      stopped: names(running.filter((server) => !wasKilled(server))),
      killed: names(running.filter(wasKilled)),
    };
  }

  #replace(specs: readonly ServerSpec[], unchanged: ReadonlySet<string>): void {
    const old = this.#servers;
    this.#servers = new Map();
    this.#unsupported = new Map();
    const begun: ConfiguredServer[] = [];
    for (const spec of specs) {
      const known = old.get(spec.name);
      if (spec.transport !== 'stdio') this.#unsupported.set(spec.name, spec);
      else if (known !== undefined && unchanged.has(spec.name)) {
        this.#servers.set(spec.name, known);
        old.delete(spec.name);
      } else begun.push(this.#create(spec, known));
    }
    for (const [name, server] of old) {
      void retire(server);
      if (!this.#servers.has(name)) this.#journal.forget(name);
    }
    for (const server of begun) server.begin();
  }

  #create(spec: StdioSpec, predecessor: ConfiguredServer | undefined): ConfiguredServer {
    const gone = predecessor === undefined ? Promise.resolve() : retire(predecessor);
    const server = new ConfiguredServer(spec, ++this.#generation, this.#around, gone);
    this.#servers.set(spec.name, server);
    return server;
  }

  #spec(name: string): ServerSpec {
    const spec = this.#servers.get(name)?.spec ?? this.#unsupported.get(name);
    if (spec !== undefined) return spec;
    throw this.#unknown(name);
  }

  #find(name: string): ConfiguredServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    throw this.#unsupported.has(name) ? unsupported(this.#spec(name)) : this.#unknown(name);
  }

  #unknown(name: string): ServerNotFoundError {
    const names = [...this.#servers.keys(), ...this.#unsupported.keys()];
    const known = names.length === 0 ? 'no server is configured' : `there are: ${names.join(', ')}`;
    return new ServerNotFoundError(`no server is called '${name}'`, { why: known, fix: didYouMean(name, names) || known });
  }

  /** Why a call cannot even be tried. */
  #refusal({ server: name, tool }: CallParams) {
    const spec = this.#servers.get(name)?.spec ?? this.#unsupported.get(name);
    if (spec === undefined) return this.#unknown(name);
    if (spec.transport !== 'stdio') return unsupported(spec);
    if (!spec.enabled) {
      return new ServerUnavailableError(`${name}: is disabled`, { fix: `set 'enabled: true' in ${spec.origin.file}` });
    }
    const server = this.#servers.get(name)!;
    const known = server.lists?.tools.map((own) => String(own.name));
    if (server.isVisible(tool) && (known === undefined || known.includes(tool))) return undefined;
    const names = known ?? [];
    return new MCPToolNotFoundError(`${name} has no tool '${tool}'`, {
      why: names.length === 0 ? 'it has no tools' : `it has: ${names.slice(0, 20).join(', ')}`,
      fix: didYouMean(tool, names) || `see "toolherd tools ${name}"`,
    });
  }

  #changed(change: Change): void {
    if (this.#listeners.size === 0) return;
    const view = this.#servers.get(change.server)?.view();
    if (view === undefined) return;
    const { server, incarnation, cause, at } = change;
    const event: FleetEvent = { topic: 'state', server, incarnation, state: view.state, detail: view.detail, cause, at };
    for (const listen of this.#listeners) listen(event);
  }
}

/** Stops a server that is no longer configured, and takes it away when nothing of it is left. */
const retiring = new WeakMap<ConfiguredServer, Promise<void>>();
function retire(server: ConfiguredServer): Promise<void> {
  const begun = retiring.get(server);
  if (begun !== undefined) return begun;
  server.stop();
  const gone = server.whenGone().then(() => server.release());
  retiring.set(server, gone);
  return gone;
}

function unsupported(spec: ServerSpec): ServerUnavailableError {
  const message = `${spec.name}: transport '${spec.transport}' is not supported by this version`;
  return new ServerUnavailableError(message, { fix: 'use a stdio server' });
}

/** XState knows timers only; the clock is ours. */
function timers(clock: Clock) {
  return {
    setTimeout: (fire: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fire, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
}
