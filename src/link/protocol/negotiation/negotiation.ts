import { withTimeout } from '../../../shared/async.js';
import { MCPProtocolError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { MCP_2026_VERSION } from '../../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../shared/mcp/rpc-codes.js';
import type { Opened, Unwatch } from '../../link.js';
import type { Mcp2026Driver } from '../mcp-2026/driver.js';
import { FIRST_DRIVER_ID } from '../mcp-2026/driver-requests.js';
import { gone, type ProtocolDriver } from '../protocol-driver.js';
import type { Era, EraMemory } from './era-cache.js';

export interface NegotiationPorts {
  name: string;
  clock: Clock;
  /** Absent where no era is remembered: then every start begins with a probe. */
  memory?: EraMemory | undefined;
  /** Each creates a new driver: a second process of the server gets drivers without state of the first. */
  mcp2025(): ProtocolDriver;
  mcp2026(): Mcp2026Driver;
}

/**
 * Silence proves nothing: a first `npx` takes half a minute to start. After this long `initialize` is sent as well, and
 * an answer to `server/discover` still counts.
 */
export const SILENCE_MS = 3000;
/** A server that has answered `server/discover` answers `initialize` within this time, or never. */
const BOTH_ANSWERED_MS = 2000;

type Answer = { opened: Opened } | { refused: Error };

interface Drivers {
  mcp2025: ProtocolDriver;
  mcp2026: Mcp2026Driver;
}

/**
 * Finds out on the connection itself which era a server speaks, and is its driver from then on.
 *
 * | known | sent | then |
 * |---|---|---|
 * | nothing | `server/discover` | answered: 2026 · refused: `initialize` · silent: `initialize` as well |
 * | 2025 | `initialize` | refused: `server/discover` |
 * | 2026 | `server/discover` | refused: `initialize` |
 *
 * A server that gets both and answers both follows the last one (a server made with the v2 SDK leaves the new era when it
 * gets `initialize`): this link speaks 2025 to it, and 2026 is remembered for the next.
 */
export class Negotiation implements ProtocolDriver {
  readonly #ports: NegotiationPorts;
  readonly #known: Era | undefined;
  #drivers: Drivers;
  #chosen: ProtocolDriver | undefined;
  #era: Era | undefined;
  /** Which process of the server this is: at most two within one link. */
  #process = 1;
  #closed = false;
  #settle: { resolve(opened: Opened): void; reject(error: unknown): void } | undefined;

  constructor(ports: NegotiationPorts) {
    this.#ports = ports;
    this.#known = ports.memory?.recall();
    this.#drivers = { mcp2025: ports.mcp2025(), mcp2026: ports.mcp2026() };
  }

  /** Undefined until the server has answered. */
  get era(): Era | undefined {
    return this.#era;
  }

  open(): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#known === 'mcp2025') this.#follow(this.#openAs2025());
      else if (this.#known === 'mcp2026') this.#follow(this.#openAs2026());
      else this.#follow(this.#probe());
    });
  }

  /**
   * The process has exited. True when the probe may be the reason, since some servers exit on any request before
   * `initialize`: then the link starts a second process and calls `startAgain`. True at most once. Either way the next
   * link begins with `initialize`.
   */
  diedOfProbe(): boolean {
    if (this.#closed || this.#era !== undefined || this.#known !== undefined || this.#process > 1)
      return false;
    this.#process += 1;
    this.#ports.memory?.presume('mcp2025');
    this.#closeDrivers();
    return true;
  }

  startAgain(): void {
    this.#drivers = { mcp2025: this.#ports.mcp2025(), mcp2026: this.#ports.mcp2026() };
    this.#follow(this.#openAs2025());
  }

  receive(raw: JsonObject): boolean {
    const { mcp2025, mcp2026 } = this.#drivers;
    const isOwnReply = raw.method === undefined && typeof raw.id === 'number' && raw.id >= FIRST_DRIVER_ID;
    if (isOwnReply) return mcp2026.receive(raw);
    return (this.#chosen ?? mcp2025).receive(raw);
  }

  lose(id: number, error: Error, status?: number): boolean {
    const { mcp2025, mcp2026 } = this.#drivers;
    if (id >= FIRST_DRIVER_ID) return mcp2026.lose(id, isRefusal(status) ? refusedBy(error) : error);
    return mcp2025.lose?.(id, error, status) ?? false;
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#chosen?.ping(timeoutMs) ?? Promise.reject(gone(this.#ports.name));
  }

  /** Watches a resource by a subscription; undefined in the era that has a call for it. */
  watch(uri: string): Promise<Unwatch> | undefined {
    return this.#era === 'mcp2026' ? this.#drivers.mcp2026.watch(uri) : undefined;
  }

  renewLogLevel(): void {
    this.#drivers.mcp2025.renewLogLevel();
    this.#drivers.mcp2026.renewLogLevel();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // the remembered era failed, so the next start probes; without a request it has proved nothing
    const hasFailed = this.#settle !== undefined && this.#era === undefined;
    if (hasFailed && this.#known === 'mcp2026') this.#ports.memory?.forget();
    this.#closeDrivers();
  }

  /** Settles `open`, unless a second process has begun meanwhile. */
  #follow(attempt: Promise<Opened>): void {
    const process = this.#process;
    attempt.then(
      (opened) => process === this.#process && this.#settle?.resolve(opened),
      (error: unknown) => process === this.#process && this.#settle?.reject(error),
    );
  }

  async #probe(): Promise<Opened> {
    const drivers = this.#drivers;
    const discovered = answerOf(drivers.mcp2026);
    const first = await this.#within(SILENCE_MS, discovered);
    if (first === undefined) return this.#both(drivers, discovered);
    if ('opened' in first) return this.#choose(drivers, 'mcp2026', first.opened);
    this.#rethrowUnlessRefused(first.refused);
    return this.#fallBack(drivers, first.refused);
  }

  async #both(drivers: Drivers, discovered: Promise<Answer>): Promise<Opened> {
    let isMcp2026 = false;
    const initialized = answerOf(drivers.mcp2025);
    // `initialize` was sent last, so its answer decides
    const afterDiscover = discovered.then((answer) => {
      isMcp2026 = 'opened' in answer;
      return isMcp2026 ? this.#within(BOTH_ANSWERED_MS, initialized) : initialized;
    });
    const answer = await Promise.race([initialized, afterDiscover]);
    if (answer !== undefined && 'opened' in answer) {
      return this.#choose(drivers, 'mcp2025', answer.opened, isMcp2026 ? 'mcp2026' : 'mcp2025');
    }
    const late = await this.#within(SILENCE_MS, discovered);
    if (late !== undefined && 'opened' in late) return this.#choose(drivers, 'mcp2026', late.opened);
    throw reasonOf(answer?.refused ?? gone(this.#ports.name), late?.refused);
  }

  async #openAs2025(): Promise<Opened> {
    const drivers = this.#drivers;
    const answer = await answerOf(drivers.mcp2025);
    if ('opened' in answer) return this.#choose(drivers, 'mcp2025', answer.opened);
    // the first process exited on `server/discover`: it would hide the reason of this refusal
    if (this.#process > 1 || !maySpeak2026(answer.refused)) throw answer.refused;
    const other = await this.#within(SILENCE_MS, answerOf(drivers.mcp2026));
    if (other !== undefined && 'opened' in other) return this.#choose(drivers, 'mcp2026', other.opened);
    throw reasonOf(answer.refused, other?.refused);
  }

  async #openAs2026(): Promise<Opened> {
    const drivers = this.#drivers;
    const answer = await answerOf(drivers.mcp2026);
    if ('opened' in answer) return this.#choose(drivers, 'mcp2026', answer.opened);
    this.#rethrowUnlessRefused(answer.refused);
    return this.#fallBack(drivers, answer.refused);
  }

  /** `server/discover` was refused. */
  async #fallBack(drivers: Drivers, refused: Error): Promise<Opened> {
    const answer = await answerOf(drivers.mcp2025);
    if ('opened' in answer) return this.#choose(drivers, 'mcp2025', answer.opened);
    throw reasonOf(answer.refused, refused);
  }

  /** Any other error says nothing about the era: the connection is lost, or needs an authorisation. */
  #rethrowUnlessRefused(error: Error): void {
    if (!(error instanceof MCPProtocolError)) throw error;
  }

  #choose(drivers: Drivers, era: Era, opened: Opened, remembered: Era = era): Opened {
    if (drivers !== this.#drivers || this.#closed) throw gone(this.#ports.name);
    const { memory } = this.#ports;
    this.#era = era;
    this.#chosen = drivers[era];
    drivers[era === 'mcp2026' ? 'mcp2025' : 'mcp2026'].close();
    // an era that still holds keeps its date, so that it expires some day
    if (this.#known !== remembered || this.#process > 1) memory?.keep(remembered);
    if (era === 'mcp2026') drivers.mcp2026.engage(opened);
    return opened;
  }

  #closeDrivers(): void {
    this.#drivers.mcp2025.close();
    this.#drivers.mcp2026.close();
  }

  #within<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
    return withTimeout(ms, answer, this.#ports.clock);
  }
}

function answerOf(driver: ProtocolDriver): Promise<Answer> {
  return driver.open().then(
    (opened) => ({ opened }),
    (error: unknown) => ({ refused: error instanceof Error ? error : new Error(String(error)) }),
  );
}

/** `initialize` was refused: for its version, as an unknown method, or without a code. */
function maySpeak2026({ code }: Error & { code?: unknown }): boolean {
  return typeof code !== 'number' || code === MCP_CODE.unsupportedVersion || code === CODE.methodNotFound;
}

/** An HTTP status by which the server itself refuses: no gateway error, and no missing authorisation. */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
}

function refusedBy(cause: Error): MCPProtocolError {
  return new MCPProtocolError(cause.message, { sent: true, cause });
}

/** Both requests were refused. A server that speaks another version lists its versions in the refusal. */
function reasonOf(initialize: Error, discover: Error | undefined): Error {
  const rpc = discover instanceof MCPProtocolError ? discover.rpc : undefined;
  const supported =
    rpc?.code === MCP_CODE.unsupportedVersion && isObject(rpc.data) ? rpc.data.supported : undefined;
  if (!Array.isArray(supported) || supported.length === 0) return initialize;
  return new Error(`it speaks ${supported.join(', ')}, toolherd speaks versions up to ${MCP_2026_VERSION}`);
}
