import type { ServerSpec } from '../../config/schema/spec.js';
import type { ReloadReport, ServerStatus, ShutdownReport } from '../../fleet/fleet.js';
import type { LinkLog } from '../../link/link.js';
import { onceMore } from '../../shared/coalesce.js';
import type { BudgetReport } from '../memory/memory-budget.js';
import { identityOf } from '../spec-identity.js';
import { Ground, type HerdOptions } from './herd-core.js';
import { HerdView } from './herd-view.js';
import { stopAll } from './shutdown.js';

export type { HerdOptions } from './herd-core.js';

/** Every configured server, under one root actor: what everybody sees, and the views of single agents beside it. */
export class Herd extends HerdView {
  readonly #ground: Ground;
  /** The configured servers are there now: what is kept of others may be forgotten one day. */
  readonly seen = onceMore(() => this.#seen());
  #viewNumber = 0;

  constructor(options: HerdOptions) {
    const ground = new Ground(options);
    super(ground, { id: 'herd', agent: options.agent ?? null, isOneAgent: false });
    this.#ground = ground;
  }

  override apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    const report = super.apply(specs, isDryRun);
    if (!isDryRun) this.seen();
    return report;
  }

  /** What an agent's files make of it, maybe with servers that nobody else has. */
  open(agent: string, specs: readonly ServerSpec[]): HerdView {
    this.#ground.checkOpen();
    this.#viewNumber += 1;
    const view = new HerdView(this.#ground, { id: `view ${this.#viewNumber}`, agent, isOneAgent: false });
    view.apply(specs);
    return view;
  }

  /** Without names also what agents have at rest: this view is the one of the whole herd. */
  override status(names?: readonly string[]): ServerStatus[] {
    if (names !== undefined) return super.status(names);
    return this.#ground.status([...this.sights(), ...this.#ground.others(this)]);
  }

  /** What all servers together may use, in bytes; 0 = no limit. */
  limitMemory(maxRss: number): void {
    this.#ground.budget.limit(maxRss);
  }

  /** Undefined where they may use what they like. */
  memoryReport(): BudgetReport | undefined {
    return this.#ground.budget.report();
  }

  /** The setting that says what is made of changed tools may be another one. */
  vetAgain(): void {
    this.#ground.vetAgain();
  }

  logMarkAt(slot: string): string | undefined {
    return this.#ground.logMarkAt(slot);
  }

  /** A line that a server printed: it is in the log already. */
  printed(slot: string, incarnation: number, line: LinkLog): void {
    this.#ground.ears.printed(slot, incarnation, line);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#ground.end();
    const { servers, leaving } = this.#ground.pool;
    return stopAll(servers, { clock: this.#ground.options.clock, graceMs, kill, leaving });
  }

  /** Whatever has ended is written down now: whoever ends the process asks for it. */
  flushRecords(): void {
    this.#ground.flushRecords();
  }

  async #seen(): Promise<void> {
    const identities = this.#ground.pool.servers.map(({ spec }) => identityOf(spec));
    const pinned = this.#ground.pool.servers.flatMap(({ pinning }) => pinning?.identity ?? []);
    const { catalogs, pins } = this.#ground.options;
    await Promise.allSettled([catalogs?.seen(identities), pins?.store.seen(pinned)]);
  }
}
