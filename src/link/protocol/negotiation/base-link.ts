import type { ServerSpec } from '../../../config/fields/spec.js';
import type { Ending } from '../../../machines/restart/ending.js';
import type { StopStep } from '../../../processes/stop-sequence.js';
import type { JsonObject } from '../../../shared/json.js';
import type { Message } from '../../calls/message.js';
import type { Session, Wire } from '../../calls/session.js';
import type { Link, LinkEvents, Opened, Unwatch } from '../../link.js';
import { type ListMethod, listAll } from '../list.js';
import { isForDriver } from '../protocol-driver.js';
import type { Negotiation } from './negotiation.js';
import { createProtocolStack, type ProtocolDeps } from './protocol-stack.js';

/**
 * What a link does over every transport: it routes messages between its session, its driver and its events, sends the
 * requests of toolherd itself, and decides once how it ends.
 */
export abstract class BaseLink implements Link, Wire {
  abstract readonly pids: readonly number[];
  readonly session: Session;
  protected readonly driver: Negotiation;
  /** What the server said in the handshake; undefined until it is done. */
  protected opened: Opened | undefined;
  /** Set by the first reason to end; reported when nothing of the process or connection is left. */
  protected ending: Ending | undefined;
  /** `ended` was reported: no further event. */
  protected isOver = false;
  readonly #clock: ProtocolDeps['clock'];
  readonly #on: LinkEvents;
  #startTimer: unknown;

  constructor(spec: ServerSpec, deps: ProtocolDeps, on: LinkEvents) {
    this.#clock = deps.clock;
    this.#on = on;
    const { session, driver } = createProtocolStack({
      spec,
      deps,
      wire: this,
      other: (message, line) => this.receive(message, line),
      notification: (method, params) => this.#notify(method, params),
    });
    this.session = session;
    this.driver = driver;
  }

  /** Whether the transport takes another line now. */
  protected abstract readonly isWritable: boolean;
  abstract write(line: string): boolean;
  /** Logs a line that is no message. */
  protected abstract logNoise(line: Buffer | undefined): void;
  abstract close(from?: StopStep): void;

  get ready(): boolean {
    return this.opened !== undefined && this.isWritable;
  }

  ping(timeoutMs: number): Promise<void> {
    return this.driver.ping(timeoutMs);
  }

  async list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    const { items, ttlMs } = await listAll(this.session, this.opened?.capabilities ?? {}, method);
    if (ttlMs !== undefined) onTtl?.(ttlMs);
    return items;
  }

  /** By subscription in MCP 2026-07-28, by a call before. */
  async watch(uri: string): Promise<Unwatch> {
    const { session } = this;
    const subscription = this.driver.watch(uri);
    if (subscription !== undefined) return subscription;
    await session.call('resources/subscribe', { uri });
    return async () => void (await session.call('resources/unsubscribe', { uri }));
  }

  renewLogLevel(): void {
    if (!this.isOver) this.driver.renewLogLevel();
  }

  /** A message that belongs to no call. */
  protected receive(message: Message, line: Buffer | undefined): void {
    if (message.kind === 'broken') this.logNoise(line);
    else if (message.kind === 'notification' && !isForDriver(message.method)) {
      this.#notify(message.method, message.params);
    } else if (message.kind !== 'batch' && !this.driver.receive(message.raw)) this.logNoise(line);
  }

  /** Starts the time limit of the handshake, from now on. */
  protected limitHandshake(ms: number, late: () => void): void {
    this.#clock.clearTimeout(this.#startTimer);
    this.#startTimer = this.#clock.setTimeout(late, ms);
  }

  /** The handshake is done: waiting calls are sent. */
  protected open(opened: Opened): void {
    if (this.ending !== undefined) return;
    this.#clock.clearTimeout(this.#startTimer);
    this.opened = opened;
    this.#on.opened(opened);
    this.session.resume();
  }

  /** True for the first reason to end; every later one is a consequence of it. */
  protected decide(ending: Ending): boolean {
    if (this.ending !== undefined) return false;
    this.ending = ending;
    this.#clock.clearTimeout(this.#startTimer);
    return true;
  }

  /** The last event of a link. */
  protected end(ending: Ending): void {
    this.isOver = true;
    this.#on.ended(ending);
  }

  #notify(method: string, params: JsonObject | undefined): void {
    if (!this.isOver) this.#on.notification(method, params);
  }
}
