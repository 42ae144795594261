import type { ServerSpec } from '../../config/fields/spec.js';
import type { OpenCall, ReloadReport, ShutdownReport, StateEvent } from '../../fleet/fleet.js';
import type { LinkLog } from '../../link/link.js';
import { coalesce, withTimeout } from '../../shared/async.js';
import { shuttingDown } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { McpLevel } from '../../shared/mcp/log-levels.js';
import type { BudgetReport } from '../memory/memory-budget.js';
import type { ConfiguredServer, OwnReplicas } from '../server/configured-server.js';
import { HerdCore, type HerdOptions } from './herd-core.js';
import { HerdView } from './herd-view.js';

export type { HerdOptions } from './herd-core.js';

/** Every configured server, under one root actor: the view that all agents share, and views of single agents beside it. */
export class Herd {
  /** The view that is shared. */
  readonly view: HerdView;
  readonly #core: HerdCore;
  /** Deletes the files of servers that were not configured for long. Call it when the configured servers are known. */
  readonly pruneFiles = coalesce(() => this.#core.pruneFiles());
  #viewNumber = 0;

  constructor(options: HerdOptions) {
    this.#core = new HerdCore(options);
    const agent = options.agent ?? null;
    this.view = new HerdView(this.#core, { id: 'herd', agent, isOneAgent: false, isGlobal: true });
  }

  /** Makes the shared view what these specs say. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    const report = this.view.apply(specs, isDryRun);
    if (!isDryRun) this.pruneFiles();
    return report;
  }

  /** The view of an agent's own files, which may name servers that no other view has. */
  open(agent: string, specs: readonly ServerSpec[]): HerdView {
    this.#core.checkOpen();
    this.#viewNumber += 1;
    const view = new HerdView(this.#core, { id: `view ${this.#viewNumber}`, agent, isOneAgent: false });
    view.apply(specs);
    return view;
  }

  /** The specs of all servers, of every view. */
  get specs(): ServerSpec[] {
    return this.#core.pool.servers.map(({ spec }) => spec);
  }

  /** What all servers together may use, in bytes; 0 = no limit. */
  limitMemory(maxRss: number): void {
    this.#core.budget.limit(maxRss);
  }

  /** Undefined where there is no limit. */
  memoryReport(): BudgetReport | undefined {
    return this.#core.budget.report();
  }

  /** The pin policy may have changed. */
  recheckPins(): void {
    this.#core.recheckPins();
  }

  /** The separator of public names has changed. */
  renamed(): void {
    this.#core.renamed();
  }

  logOwnerTag(key: string): string | undefined {
    return this.#core.logOwnerTag(key);
  }

  /** The lowest level of log messages that a subscriber wants of this server. */
  wantedLogLevel(key: string): McpLevel | undefined {
    return this.#core.wantedLogLevel(key);
  }

  /** `daemon.log_level` has changed. */
  renewLogLevels(): void {
    for (const server of this.#core.pool.servers) server.renewLogLevel();
  }

  /** Records the history of all servers from now on, until the returned function is called. */
  recordHistory(): () => void {
    const { recorder } = this.#core;
    recorder.begin();
    return () => recorder.end();
  }

  /** The calls that have no outcome, by their callers. */
  openCalls(): ReadonlyMap<string, OpenCall[]> {
    return this.#core.openCalls();
  }

  /** What runs on this node of a server of the shared view; undefined where nothing of it may, or there is none. */
  ownReplicas(name: string): OwnReplicas | undefined {
    const [visible] = this.view.visibles(name);
    return visible?.isPlaceholder === false ? visible.server.here() : undefined;
  }

  /** Writes into the journal of a server what toolherd did for this incarnation. */
  noteInJournal(key: string, incarnation: number, text: string): void {
    this.#core.noteInJournal(key, incarnation, text);
  }

  /** Emits a line that a server printed. It is in the log already. */
  printed(key: string, incarnation: number, line: LinkLog): void {
    this.#core.messageTap.printed(key, incarnation, line);
  }

  /** The daemon of another herd says that one of its servers changed its state. */
  emitState(event: StateEvent): void {
    this.#core.emitState(event);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#core.end();
    const { servers, retiring, leaving } = this.#core.pool;
    return stopAll([...servers, ...retiring], { clock: this.#core.clock, graceMs, kill, leaving });
  }

  /** Writes the records of ended calls now. Call it before the process exits. */
  flushRecords(): void {
    this.#core.flushRecords();
  }
}

interface ShutdownOptions {
  clock: Clock;
  graceMs: number;
  /** Ends whatever still runs when the grace is over. */
  kill(): Promise<void>;
  /** Others that are on their way out already. */
  leaving: readonly Promise<unknown>[];
}

/** Stops all servers at once and reports which had to be killed. Resolves when nothing is left. */
async function stopAll(
  servers: readonly ConfiguredServer[],
  { clock, graceMs, kill, leaving }: ShutdownOptions,
): Promise<ShutdownReport> {
  const running = servers.filter((server) => server.snapshot().pids.length > 0);
  const before = new Map(running.map((server) => [server, server.lastStops]));
  for (const server of servers) server.close(shuttingDown());
  const left = new Set(servers);
  const going = servers.map((server) => server.whenGone().then(() => left.delete(server)));
  const gone = Promise.all([...going, ...leaving]);
  const isLate = (await withTimeout(graceMs, gone, clock)) === undefined;
  const overdue = new Set(isLate ? left : []);
  if (isLate) await kill();
  await gone;
  const wasKilled = (server: ConfiguredServer) =>
    overdue.has(server) ||
    server.lastStops.some(
      (ending) => !before.get(server)?.includes(ending) && 'killed' in ending && ending.killed,
    );
  const names = (some: readonly ConfiguredServer[]) => some.map(({ spec }) => spec.name);
  return {
    stopped: names(running.filter((server) => !wasKilled(server))),
    killed: names(running.filter(wasKilled)),
  };
}
