import { type ActorRefFrom, waitFor } from 'xstate';
import type { StdioSpec } from '../config/spec.js';
import { callErrorFor } from '../link/call-error.js';
import { type MCPError, ServerUnavailableError } from '../link/errors.js';
import type { Link, Opened } from '../link/link.js';
import type { Ending } from '../machines/ending.js';
import { type KeeperMachine, keeperMachine } from '../machines/keeper.js';
import type { KeeperOrder, KeeperReport } from '../machines/keeper-context.js';
import { serverMachine } from '../machines/server.js';
import { Gate } from './gate.js';
import { linkActor } from './link-actor.js';
import type { Lists } from './lists.js';
import { serverSettings } from './server-settings.js';
import { stateName, topState } from './state-name.js';
import type { Surroundings } from './surroundings.js';

/**
 * Room for one process of a server: a keeper, the gate in front of it, and the link of the newest incarnation.
 * A server with `replicas: n` has n stalls.
 */
export class Stall {
  readonly id: string;
  readonly gate: Gate;
  readonly #spec: StdioSpec;
  readonly #around: Surroundings;
  readonly #keeper: ActorRefFrom<KeeperMachine>;
  #link: Link | undefined;
  #opened: Opened | undefined;
  #lastStop: Ending | undefined;
  #failedAt: number | undefined;

  constructor(
    id: string,
    spec: StdioSpec,
    around: Surroundings,
    on: { listed(lists: Lists): void },
    predecessor: Promise<unknown>,
  ) {
    this.id = id;
    this.#spec = spec;
    this.#around = around;
    this.gate = new Gate({
      name: spec.name,
      clock: around.clock,
      refusal: () => this.#refusal(),
      wake: () => this.#keeper.send({ type: 'call.waiting' }),
    });
    const link = linkActor(spec, around.clock, around.open, {
      linked: (linked) => {
        this.#link = linked;
        this.#opened = undefined;
      },
      opened: (opened) => {
        this.#opened = opened;
      },
      listed: on.listed,
      log: (text) => around.log(spec.name, text),
    });
    const reap = () => this.#link?.close('kill');
    const server = serverMachine.provide({
      actors: { link },
      actions: {
        openGate: () => this.#link && this.gate.open(this.#link.session),
        sealGate: () => this.gate.seal(),
        reap,
      },
    });
    const logic = keeperMachine.provide({
      actors: { server, permit: around.permits.logic(predecessor) },
      actions: { reap },
    });
    const input = {
      policy: spec,
      server: serverSettings(spec, () => this.#idleForMs()),
      now: () => around.clock.now(),
      random: () => around.random(),
    };
    this.#keeper = around.keep(id, logic, input) as ActorRefFrom<KeeperMachine>;
    this.#keeper.on('incarnation.ended', (report) => this.#ended(report));
  }

  order(order: KeeperOrder['type']): void {
    this.#keeper.send({ type: order });
  }

  /** Starts an idle server as a call would; a stopped or quarantined one stays as it is. */
  wake(): void {
    this.#keeper.send({ type: 'call.waiting' });
  }

  get context() {
    return this.#keeper.getSnapshot().context;
  }

  get detail() {
    return topState(this.#keeper.getSnapshot().value) as
      | 'idle'
      | 'running'
      | 'waiting'
      | 'quarantined'
      | 'needs_auth'
      | 'stopped';
  }

  /** The full states of both charts. */
  get states(): { server: string; keeper: string } {
    const incumbent = this.context.incumbent?.getSnapshot();
    return {
      server: incumbent === undefined ? 'created' : stateName(incumbent.value),
      keeper: stateName(this.#keeper.getSnapshot().value),
    };
  }

  get pids(): readonly number[] {
    return this.#link?.pids ?? [];
  }

  get inFlight(): number {
    return this.#link?.session.inFlight ?? 0;
  }

  get opened(): Opened | undefined {
    return this.gate.isOpen ? this.#opened : undefined;
  }

  /** When the newest incarnation that failed came to its end. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** How the last ordered stop went. */
  get lastStop(): Ending | undefined {
    return this.#lastStop;
  }

  /** Resolves when it runs, or when it is clear that it does not (waiting for the next try, given up, stopped). */
  async whenDecided(): Promise<void> {
    await waitFor(this.#keeper, ({ value }) => {
      const name = stateName(value);
      return !name.startsWith('running') || name === 'running.up' || name === 'running.recalled';
    });
  }

  /** Resolves when no incarnation is left. */
  async whenGone(): Promise<void> {
    await waitFor(this.#keeper, ({ value }) => topState(value) !== 'running');
  }

  release(): void {
    this.#around.release(this.id);
  }

  #idleForMs(): number {
    const session = this.#link?.session;
    if (session === undefined || session.inFlight > 0 || session.waiting > 0) return 0;
    return this.#around.clock.now() - session.lastActivityAt;
  }

  /** Who may wait for a session, by the state of the keeper. */
  #refusal(): MCPError | undefined {
    const { name } = this.#spec;
    const { nextRetryAt, quarantineReason, lastError, connectedAt } = this.context;
    const detail = this.detail;
    if (detail === 'idle' || detail === 'running') return undefined;
    // It crashed and is coming back: the next try is near. One that failed to start gives no such hope.
    if (detail === 'waiting' && connectedAt !== undefined) return undefined;
    const why = lastError?.message;
    if (detail === 'stopped') {
      return new ServerUnavailableError(`${name}: was stopped`, { why: 'by order', fix: `toolherd start ${name}` });
    }
    if (detail === 'waiting') {
      const inMs = Math.max(0, (nextRetryAt ?? 0) - this.#around.clock.now());
      const message = `${name}: could not be started; the next try is in ${(inMs / 1000).toFixed(1)} s`;
      return new ServerUnavailableError(message, { retryable: true, why, fix: `see "toolherd why ${name}"` });
    }
    const message =
      detail === 'needs_auth' ? `${name}: needs an authorisation` : `${name}: is quarantined (${quarantineReason})`;
    return new ServerUnavailableError(message, { why, fix: `mend the cause, then: toolherd reset ${name}` });
  }

  /** Those who wait here learn when nobody is coming for them. */
  #ended({ ending, connected }: KeeperReport): void {
    if (ending.kind === 'disconnected' && ending.reason === 'stopped') this.#lastStop = ending;
    if (ending.kind === 'error') this.#failedAt = this.#around.clock.now();
    if (!connected) this.gate.fail(callErrorFor(this.#spec.name, ending, false));
    const refusal = this.#refusal();
    if (refusal !== undefined) this.gate.fail(refusal);
  }
}
