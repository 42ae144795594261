import { MCPProtocolError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { MCP_2026_VERSION, UNSUPPORTED_VERSION } from '../../../shared/mcp-names.js';
import { CODE } from '../../../shared/rpc-codes.js';
import type { Opened, Unwatch } from '../../link.js';
import type { Mcp2026Driver } from '../mcp-2026/driver.js';
import { FIRST_DRIVER_ID, gone } from '../mcp-2026/driver-requests.js';
import type { ProtocolDriver } from '../protocol-driver.js';
import type { Era, EraMemory } from './era-cache.js';

export interface NegotiationPorts {
  name: string;
  clock: Clock;
  /** Absent where nothing is remembered: then every start is a probe. */
  memory?: EraMemory | undefined;
  /** New ones: a server that is started again is spoken to by nobody who spoke to the one before. */
  legacy(): ProtocolDriver;
  modern(): Mcp2026Driver;
}

/**
 * Silence proves nothing: a first `npx` boots for half a minute. After this long `initialize` is sent as well, and
 * `server/discover` still counts.
 */
export const SILENCE_MS = 3000;
/** A server that has answered the one answers the other within this, if it ever does. */
const LAST_WORD_MS = 2000;

type Answer = { opened: Opened } | { refused: Error };

interface Drivers {
  legacy: ProtocolDriver;
  modern: Mcp2026Driver;
}

/**
 * Finds out on the connection itself which era a server speaks, and is its upstream from then on.
 *
 * | known | sent | then |
 * |---|---|---|
 * | nothing | `server/discover` | answered: modern · refused: `initialize` · silent: `initialize` as well |
 * | legacy | `initialize` | refused: `server/discover` |
 * | modern | `server/discover` | refused: `initialize` |
 *
 * A server that has been sent both and answers both goes by the last it heard (one made with the v2 SDK lets go of the
 * new era when it is sent `initialize`): it is spoken to as legacy in this life, and remembered as modern for the next.
 */
export class Negotiation implements ProtocolDriver {
  readonly #ports: NegotiationPorts;
  readonly #known: Era | undefined;
  #drivers: Drivers;
  #chosen: ProtocolDriver | undefined;
  #era: Era | undefined;
  #life = 1;
  #closed = false;
  #settle: { resolve(opened: Opened): void; reject(error: unknown): void } | undefined;

  constructor(ports: NegotiationPorts) {
    this.#ports = ports;
    this.#known = ports.memory?.recall();
    this.#drivers = { legacy: ports.legacy(), modern: ports.modern() };
  }

  /** Undefined until it is decided. */
  get era(): Era | undefined {
    return this.#era;
  }

  open(): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#known === 'legacy') this.#follow(this.#asLegacy());
      else if (this.#known === 'modern') this.#follow(this.#asModern());
      else this.#follow(this.#probe());
    });
  }

  /**
   * The process has ended. True when that may be its answer to the probe, since some end on any request that comes
   * before `initialize`: then it can be started again, and `startAgain` called. At most once. Either way the next link
   * begins with `initialize`.
   */
  diedOfProbe(): boolean {
    if (this.#closed || this.#era !== undefined || this.#known !== undefined || this.#life > 1) return false;
    this.#life += 1;
    this.#ports.memory?.presume('legacy');
    this.#closeDrivers();
    return true;
  }

  startAgain(): void {
    this.#drivers = { legacy: this.#ports.legacy(), modern: this.#ports.modern() };
    this.#follow(this.#asLegacy());
  }

  receive(raw: JsonObject): boolean {
    const { legacy, modern } = this.#drivers;
    const isOwnReply = raw.method === undefined && typeof raw.id === 'number' && raw.id >= FIRST_DRIVER_ID;
    if (isOwnReply) return modern.receive(raw);
    return (this.#chosen ?? legacy).receive(raw);
  }

  lose(id: number, error: Error, status?: number): boolean {
    const { legacy, modern } = this.#drivers;
    if (id >= FIRST_DRIVER_ID) return modern.lose(id, isRefusal(status) ? refusedBy(error) : error);
    return legacy.lose?.(id, error, status) ?? false;
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#chosen?.ping(timeoutMs) ?? Promise.reject(gone(this.#ports.name));
  }

  /** To be told when a resource changes, where that is a matter of listening; undefined where a call asks for it. */
  watch(uri: string): Promise<Unwatch> | undefined {
    return this.#era === 'modern' ? this.#drivers.modern.watch(uri) : undefined;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // what was known has not helped this time; the next start finds out. One that was not spoken to has proved nothing
    const hasFailed = this.#settle !== undefined && this.#era === undefined;
    if (hasFailed && this.#known === 'modern') this.#ports.memory?.forget();
    this.#closeDrivers();
  }

  #follow(way: Promise<Opened>): void {
    const life = this.#life;
    way.then(
      (opened) => life === this.#life && this.#settle?.resolve(opened),
      (error: unknown) => life === this.#life && this.#settle?.reject(error),
    );
  }

  async #probe(): Promise<Opened> {
    const drivers = this.#drivers;
    const discovered = answerOf(drivers.modern);
    const first = await this.#within(SILENCE_MS, discovered);
    if (first === undefined) return this.#both(drivers, discovered);
    if ('opened' in first) return this.#choose(drivers, 'modern', first.opened);
    this.#unlessRefused(first.refused);
    return this.#fallBack(drivers, first.refused);
  }

  async #both(drivers: Drivers, discovered: Promise<Answer>): Promise<Opened> {
    let isMcp2026 = false;
    const initialized = answerOf(drivers.legacy);
    // it was sent last, so it has the last word
    const lastWord = discovered.then((answer) => {
      isMcp2026 = 'opened' in answer;
      return isMcp2026 ? this.#within(LAST_WORD_MS, initialized) : initialized;
    });
    const answer = await Promise.race([initialized, lastWord]);
    if (answer !== undefined && 'opened' in answer) {
      return this.#choose(drivers, 'legacy', answer.opened, isMcp2026 ? 'modern' : 'legacy');
    }
    const late = await this.#within(SILENCE_MS, discovered);
    if (late !== undefined && 'opened' in late) return this.#choose(drivers, 'modern', late.opened);
    throw reasonOf(answer?.refused ?? gone(this.#ports.name), late?.refused);
  }

  async #asLegacy(): Promise<Opened> {
    const drivers = this.#drivers;
    const answer = await answerOf(drivers.legacy);
    if ('opened' in answer) return this.#choose(drivers, 'legacy', answer.opened);
    // one that ends on requests it does not know would take its reason with it
    if (this.#life > 1 || !mayBeModern(answer.refused)) throw answer.refused;
    const other = await this.#within(SILENCE_MS, answerOf(drivers.modern));
    if (other !== undefined && 'opened' in other) return this.#choose(drivers, 'modern', other.opened);
    throw reasonOf(answer.refused, other?.refused);
  }

  async #asModern(): Promise<Opened> {
    const drivers = this.#drivers;
    const answer = await answerOf(drivers.modern);
    if ('opened' in answer) return this.#choose(drivers, 'modern', answer.opened);
    this.#unlessRefused(answer.refused);
    return this.#fallBack(drivers, answer.refused);
  }

  /** `server/discover` was refused. */
  async #fallBack(drivers: Drivers, refused: Error): Promise<Opened> {
    const answer = await answerOf(drivers.legacy);
    if ('opened' in answer) return this.#choose(drivers, 'legacy', answer.opened);
    throw reasonOf(answer.refused, refused);
  }

  /** What is no refusal says nothing of the era: the connection is gone, or wants an authorisation. */
  #unlessRefused(error: Error): void {
    if (!(error instanceof MCPProtocolError)) throw error;
  }

  #choose(drivers: Drivers, era: Era, opened: Opened, remembered: Era = era): Opened {
    if (drivers !== this.#drivers || this.#closed) throw gone(this.#ports.name);
    const { memory } = this.#ports;
    this.#era = era;
    this.#chosen = drivers[era];
    drivers[era === 'modern' ? 'legacy' : 'modern'].close();
    // a verdict that holds keeps its date, so that it is looked at again some day
    if (this.#known !== remembered || this.#life > 1) memory?.keep(remembered);
    if (era === 'modern') drivers.modern.engage(opened);
    return opened;
  }

  #closeDrivers(): void {
    this.#drivers.legacy.close();
    this.#drivers.modern.close();
  }

  #within<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
    const { clock } = this.#ports;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(undefined), ms);
      void answer.then((value) => {
        clock.clearTimeout(timer);
        resolve(value);
      });
    });
  }
}

function answerOf(driver: ProtocolDriver): Promise<Answer> {
  return driver.open().then(
    (opened) => ({ opened }),
    (error: unknown) => ({ refused: error instanceof Error ? error : new Error(String(error)) }),
  );
}

/** `initialize` was refused: for its version, for its name, or in a way that says nothing. */
function mayBeModern({ code }: Error & { code?: unknown }): boolean {
  return typeof code !== 'number' || code === UNSUPPORTED_VERSION || code === CODE.methodNotFound;
}

/** An HTTP status that is the server's own no, not a proxy's trouble and not a closed door. */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
}

function refusedBy(cause: Error): MCPProtocolError {
  return new MCPProtocolError(cause.message, { sent: true, cause });
}

/** Both were refused. One that speaks another version than we do has said so. */
function reasonOf(initialize: Error, discover: Error | undefined): Error {
  const rpc = discover instanceof MCPProtocolError ? discover.rpc : undefined;
  const supported = rpc?.code === UNSUPPORTED_VERSION && isObject(rpc.data) ? rpc.data.supported : undefined;
  if (!Array.isArray(supported) || supported.length === 0) return initialize;
  return new Error(`it speaks ${supported.join(', ')}, toolherd speaks versions up to ${MCP_2026_VERSION}`);
}
