import type { ServerSpec } from '../../config/schema/spec.js';
import type { ReloadReport, ServerStatus, ShutdownReport } from '../../fleet/fleet.js';
import type { LinkLog } from '../../link/link.js';
import { coalesce } from '../../shared/async.js';
import type { BudgetReport } from '../memory/memory-budget.js';
import { identityOf } from '../spec-identity.js';
import { HerdCore, type HerdOptions } from './herd-core.js';
import { HerdView } from './herd-view.js';
import { stopAll } from './shutdown.js';

export type { HerdOptions } from './herd-core.js';

/** Every configured server, under one root actor: what everybody sees, and the views of single agents beside it. */
export class Herd extends HerdView {
  readonly #core: HerdCore;
  /** The configured servers are there now: what is kept of others may be forgotten one day. */
  readonly seen = coalesce(() => this.#seen());
  #viewNumber = 0;

  constructor(options: HerdOptions) {
    const core = new HerdCore(options);
    super(core, { id: 'herd', agent: options.agent ?? null, isOneAgent: false });
    this.#core = core;
  }

  override apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    const report = super.apply(specs, isDryRun);
    if (!isDryRun) this.seen();
    return report;
  }

  /** What an agent's files make of it, maybe with servers that nobody else has. */
  open(agent: string, specs: readonly ServerSpec[]): HerdView {
    this.#core.checkOpen();
    this.#viewNumber += 1;
    const view = new HerdView(this.#core, { id: `view ${this.#viewNumber}`, agent, isOneAgent: false });
    view.apply(specs);
    return view;
  }

  /** Without names also what agents have at rest: this view is the one of the whole herd. */
  override status(names?: readonly string[]): ServerStatus[] {
    if (names !== undefined) return super.status(names);
    return this.#core.status([...this.visibles(), ...this.#core.others(this)]);
  }

  /** What all servers together may use, in bytes; 0 = no limit. */
  limitMemory(maxRss: number): void {
    this.#core.budget.limit(maxRss);
  }

  /** Undefined where they may use what they like. */
  memoryReport(): BudgetReport | undefined {
    return this.#core.budget.report();
  }

  /** The setting that says what is made of changed tools may be another one. */
  recheckPins(): void {
    this.#core.recheckPins();
  }

  logMarkAt(key: string): string | undefined {
    return this.#core.logMarkAt(key);
  }

  /** A line that a server printed: it is in the log already. */
  printed(key: string, incarnation: number, line: LinkLog): void {
    this.#core.messageTap.printed(key, incarnation, line);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#core.end();
    const { servers, leaving } = this.#core.pool;
    return stopAll(servers, { clock: this.#core.options.clock, graceMs, kill, leaving });
  }

  /** Whatever has ended is written down now: whoever ends the process asks for it. */
  flushRecords(): void {
    this.#core.flushRecords();
  }

  async #seen(): Promise<void> {
    const identities = this.#core.pool.servers.map(({ spec }) => identityOf(spec));
    const pinned = this.#core.pool.servers.flatMap(({ pinning }) => pinning?.identity ?? []);
    const { catalogs, pins } = this.#core.options;
    await Promise.allSettled([catalogs?.seen(identities), pins?.store.seen(pinned)]);
  }
}
