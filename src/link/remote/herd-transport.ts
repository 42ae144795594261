import type { Duplex } from 'node:stream';
import type { HerdServerSpec } from '../../config/fields/spec.js';
import { withTimeout } from '../../shared/async.js';
import { MCPError } from '../../shared/call-errors.js';
import { Framer } from '../../shared/framing/framer.js';
import { isObject } from '../../shared/json.js';
import { FIRST_CALL_ID } from '../calls/reply-router.js';
import { failureIn, TransportError, type TransportFailure } from '../failures/transport-failure.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';

/** For how long a broken connection waits for the reason, which the connection of the herd may know in a moment. */
const REASON_MS = 1000;
/** No MCP message has it: it is the reply to `fleet/hello`. */
const HELLO_ID = 'hello';
/** The daemon writes an error behind version and id, within this many bytes. */
const REPLY_HEAD = 64;
const ERROR = ',"error":{';

/** An error of another toolherd, as far as it is used. */
interface Told {
  type: string;
  message: string;
  why?: string;
  fix?: string;
  retryable?: boolean;
  sent: boolean;
}

/** It keeps its type, and gets the name that the server has here. */
class ToldError extends MCPError {
  override readonly type: string;

  constructor(
    { name, herd, remoteName }: HerdServerSpec,
    { type, message, why, fix, retryable, sent }: Told,
  ) {
    const text = message.replace(`${remoteName}: `, '');
    super(`${name}: ${text}`, { why, fix: fix && `on ${herd}: ${fix}`, retryable, sent });
    this.type = type;
  }
}

/**
 * One server of another herd, or of another node of the cluster: a connection to its daemon that sees this server alone, and
 * then speaks MCP as an agent would.
 */
export class HerdTransport implements RemoteTransport {
  readonly #spec: HerdServerSpec;
  readonly #ports: TransportPorts;
  #socket: Duplex | undefined;
  #state: 'dialling' | 'open' | 'closed' = 'dialling';
  #isFull = false;
  #greeted: ((reply: unknown) => void) | undefined;
  #forget: () => void = () => undefined;
  /** Resolves when the herd says that it is lost. */
  #lost: Promise<TransportFailure> | undefined;

  constructor(spec: HerdServerSpec, ports: TransportPorts) {
    this.#spec = spec;
    this.#ports = ports;
  }

  async dial(): Promise<void> {
    const herd = this.#ports.herd?.(this.#spec);
    if (herd === undefined) throw new TransportError(this.#away('this program keeps no connection to it'));
    const socket = await herd.dial();
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#lost = new Promise((resolve) => {
      this.#forget = herd.onLost(resolve);
    });
    void this.#lost.then((failure) => this.#broke(failure));
    if (socket.destroyed) throw new TransportError(await this.#reason());
    this.#read(socket);
    await this.#greet(socket);
  }

  get ready(): boolean {
    return this.#state === 'open' && !this.#isFull;
  }

  write(line: string): boolean {
    const socket = this.#socket;
    if (this.#isClosed || socket === undefined || !socket.writable) return false;
    if (!socket.write(line.endsWith('\n') ? line : `${line}\n`)) this.#isFull = true;
    return true;
  }

  async close(): Promise<undefined> {
    this.#state = 'closed';
    this.#forget();
    const socket = this.#socket;
    if (socket === undefined || socket.closed) return;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.destroy();
    await closed;
  }

  get #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #read(socket: Duplex): void {
    const { on } = this.#ports;
    const framer = new Framer(this.#spec.maxMessageBytes, {
      line: (bytes) => this.#receive(bytes),
      oversized: (line) => on.oversized(line),
    });
    socket.on('data', (chunk) => {
      if (this.#isClosed) return;
      on.received();
      framer.push(chunk);
    });
    socket.on('drain', () => {
      this.#isFull = false;
      if (!this.#isClosed) on.drained();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => void this.#closed());
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.#greeted !== undefined) this.#greeted(parsed(bytes));
    else if (!bytes.subarray(0, REPLY_HEAD).includes(ERROR) || !this.#tell(bytes)) this.#ports.on.line(bytes);
  }

  /** True for an error of the other toolherd about a call: it says whether its server got the call. */
  #tell(bytes: Buffer): boolean {
    const reply = parsed(bytes);
    if (!isObject(reply) || !isObject(reply.error) || typeof reply.id !== 'number') return false;
    const { data } = reply.error;
    if (reply.id < FIRST_CALL_ID || !isObject(data) || typeof data.sent !== 'boolean') return false;
    if (typeof data.type !== 'string' || typeof data.message !== 'string') return false;
    if (isObject(data.rpc)) {
      // the server itself has answered with this error
      this.#ports.on.line(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: reply.id, error: data.rpc })));
      return true;
    }
    this.#ports.on.lost(reply.id, {
      kind: 'told',
      error: new ToldError(this.#spec, data as unknown as Told),
    });
    return true;
  }

  /** The daemon answers in order, so the first line is its answer. It learns the name of this program and nothing more. */
  async #greet(socket: Duplex): Promise<void> {
    const { remoteName } = this.#spec;
    const reply = await new Promise<unknown>((resolve) => {
      this.#greeted = resolve;
      socket.once('close', () => resolve(undefined));
      const params = { server: remoteName, surface: 'all', typed_errors: true, client: { name: 'toolherd' } };
      this.write(JSON.stringify({ jsonrpc: '2.0', id: HELLO_ID, method: 'fleet/hello', params }));
    });
    this.#greeted = undefined;
    if (this.#isClosed) return;
    if (!isObject(reply)) throw new TransportError(await this.#reason());
    if (isObject(reply.error)) throw new TransportError(this.#away(String(reply.error.message)));
    const { daemon } = isObject(reply.result) ? reply.result : {};
    if (isObject(daemon) && isObject(daemon.closing))
      throw new TransportError(this.#away('its daemon is ending'));
    this.#state = 'open';
  }

  async #closed(): Promise<void> {
    if (this.#state === 'open') this.#broke(await this.#reason());
  }

  /** Why this connection broke: that of the herd knows more, where it broke too. */
  async #reason(): Promise<TransportFailure> {
    const known = failureIn(this.#socket?.errored);
    if (known !== undefined) return known;
    const lost = this.#lost ?? Promise.resolve(undefined);
    return (await withTimeout(REASON_MS, lost, this.#ports.clock)) ?? { kind: 'cut', code: undefined };
  }

  #broke(failure: TransportFailure): void {
    if (this.#isClosed) return;
    this.#state = 'closed';
    this.#forget();
    this.#socket?.destroy();
    this.#ports.on.broke(failure);
  }

  #away(why: string): TransportFailure {
    const { herd, isNode } = this.#spec;
    return isNode ? { kind: 'node', node: herd, why } : { kind: 'herd', herd, why };
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
