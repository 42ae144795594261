/** A link without a process: it does what its test makes it do, and keeps account of what it was given. */
import type { StdioSpec } from '../../src/config/fields/spec.js';
import { Session } from '../../src/link/calls/session.js';
import { endingError } from '../../src/link/failures/ending-error.js';
import type { Link, LinkEvents, Opened, Unwatch } from '../../src/link/link.js';
import { type ListMethod, listAll } from '../../src/link/protocol/list.js';
import type { Ending, Failed } from '../../src/machines/restart/ending.js';
import type { StopStep } from '../../src/processes/stop-sequence.js';
import { type MCPError, ServerUnavailableError } from '../../src/shared/call-errors.js';
import type { Clock } from '../../src/shared/clock.js';
import type { JsonObject } from '../../src/shared/json.js';

export interface Written {
  id?: number;
  method: string;
  params: JsonObject;
}

/** What a link does without the test. The test does the rest. */
export interface FakeLinkBehaviour {
  /** Shakes hands as soon as it was opened. */
  opens?: boolean;
  /** Answers every call at once. */
  answers?: boolean;
  /** What it takes to make it go: to be asked, to be killed, or the test. */
  goes?: 'asked' | 'killed' | 'never';
  lists?: Partial<Record<ListMethod, JsonObject[] | Error | Promise<JsonObject[]>>>;
  /** Its lists are asked for through its session, and this is what it replies; undefined: nothing. */
  replies?: (method: string) => { result: JsonObject } | { error: JsonObject } | undefined;
  capabilities?: JsonObject;
  instructions?: string;
  /** The ttl of its lists. */
  ttlMs?: number;
  ping?: () => Promise<void>;
  /** Shows no pid, so that the system is not asked for its memory: for tests that ask for the status ten thousand times. */
  isInvisible?: boolean;
}

export const HELLO: Opened = {
  protocolVersion: '2025-06-18',
  serverInfo: { name: 'fake', version: '1' },
  capabilities: { tools: {} },
  instructions: undefined,
};

export const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });

let lastPid = 1_000_000;

export class FakeLink implements Link {
  readonly spec: StdioSpec;
  readonly incarnation: number;
  readonly session: Session;
  readonly pid = ++lastPid;
  readonly written: Written[] = [];
  /** Every order to close it. */
  readonly orders: StopStep[] = [];
  /** How often each list was read. */
  readonly reads: ListMethod[] = [];
  /** Resources of which it is to tell that they changed. */
  readonly watched: string[] = [];
  /** How often it was to ask for another level of log messages. */
  levelRenewals = 0;
  behaviour: FakeLinkBehaviour;
  life: 'starting' | 'open' | 'dead' | 'gone' = 'starting';
  readonly #on: LinkEvents;

  constructor(
    spec: StdioSpec,
    incarnation: number,
    on: LinkEvents,
    clock: Clock,
    behaviour: FakeLinkBehaviour,
  ) {
    this.spec = spec;
    this.incarnation = incarnation;
    this.behaviour = behaviour;
    this.#on = on;
    const link = this;
    this.session = new Session({
      name: spec.name,
      incarnation,
      clock,
      timeoutMs: spec.requestTimeoutMs,
      maxTimeoutMs: spec.maxTimeoutMs,
      maxInFlight: spec.maxInFlight,
      wire: {
        get ready() {
          return link.life === 'open';
        },
        write: (line) => this.#take(JSON.parse(line) as Written),
      },
      other: () => undefined,
      fault: (error) => {
        throw error;
      },
    });
    // never before the opening has returned
    if (behaviour.opens) queueMicrotask(() => this.opens());
  }

  get isAlive(): boolean {
    return this.life === 'starting' || this.life === 'open';
  }

  get pids(): readonly number[] {
    return this.isAlive && !this.behaviour.isInvisible ? [this.pid] : [];
  }

  /** Calls it got, without what else was written. */
  get calls(): Written[] {
    return this.written.filter(({ method }) => method === 'tools/call');
  }

  ping(): Promise<void> {
    return this.behaviour.ping?.() ?? Promise.resolve();
  }

  async list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    this.reads.push(method);
    const { replies, capabilities = HELLO.capabilities } = this.behaviour;
    if (replies !== undefined) return (await listAll(this.session, capabilities, method)).items;
    if (this.behaviour.ttlMs !== undefined) onTtl?.(this.behaviour.ttlMs);
    const list = await (this.behaviour.lists?.[method] ?? []);
    if (list instanceof Error) throw list;
    return list;
  }

  async watch(uri: string): Promise<Unwatch> {
    this.watched.push(uri);
    return async () => void this.watched.splice(this.watched.indexOf(uri), 1);
  }

  renewLogLevel(): void {
    this.levelRenewals += 1;
  }

  close(from: StopStep = 'close'): void {
    this.orders.push(from);
    this.session.seal();
    const { goes = 'asked' } = this.behaviour;
    if (goes === 'asked' || (goes === 'killed' && from === 'kill')) {
      queueMicrotask(() => this.goes({ kind: 'disconnected', reason: 'stopped', killed: from === 'kill' }));
    }
  }

  /** The handshake is done. */
  opens(
    opened: Opened = {
      ...HELLO,
      ...capabilitiesOf(this.behaviour),
      instructions: this.behaviour.instructions,
    },
  ): void {
    if (this.life !== 'starting') return;
    this.life = 'open';
    this.#on.opened(opened);
    this.session.resume();
  }

  /** The oldest call that it has not answered. */
  get oldest(): Written | undefined {
    return this.calls.find((call) => !this.#answered.has(call.id));
  }

  /** Answers the oldest call that it has. */
  answers(result: JsonObject = text('done')): void {
    const { id } = this.oldest!;
    this.#answered.add(id);
    this.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result })));
  }

  /** The daemon on the other side answers its oldest call with an error of toolherd. */
  refuses(error: MCPError = drains(this.spec.name)): void {
    const { id } = this.oldest!;
    this.#answered.add(id);
    this.session.loseReply(id!, error);
  }

  says(method: string): void {
    this.#on.notification(method, undefined);
  }

  /** A resource of it has changed. */
  updated(uri: string): void {
    this.#on.notification('notifications/resources/updated', { uri });
  }

  /** The process is dead; something that it started is still there. */
  dies(code = 1): void {
    if (!this.isAlive) return;
    this.#ending ??= crash(this.spec.name, code);
    this.life = 'dead';
    this.session.close((sent) => endingError(this.spec.name, this.#ending!, sent));
  }

  /** All of it is gone. */
  isBuried(): void {
    if (this.life === 'gone') return;
    this.dies();
    this.life = 'gone';
    this.#on.ended(this.#ending!);
  }

  crashes(code = 1): void {
    this.goes(crash(this.spec.name, code));
  }

  /** Ends with this ending, in any state. */
  goes(ending: Ending): void {
    if (this.life === 'gone') return;
    this.#ending ??= ending;
    this.isBuried();
  }

  #ending: Ending | undefined;
  readonly #answered = new Set<number | undefined>();

  #take(written: Written): boolean {
    if (this.life !== 'open') return false;
    this.written.push(written);
    if (this.behaviour.answers && written.method === 'tools/call')
      queueMicrotask(() => this.isAlive && this.answers());
    else if (written.id !== undefined) this.#reply(written.id, written.method);
    return true;
  }

  #reply(id: number, method: string): void {
    const reply = this.behaviour.replies?.(method);
    if (reply === undefined) return;
    const line = JSON.stringify({ jsonrpc: '2.0', id, ...reply });
    queueMicrotask(() => this.isAlive && this.session.deliver(Buffer.from(line)));
  }
}

const capabilitiesOf = ({ capabilities }: FakeLinkBehaviour) =>
  capabilities === undefined ? {} : { capabilities };

export function drains(name: string, sent = false): MCPError {
  return new ServerUnavailableError(`${name}: the daemon drains`, { sent, retryable: true });
}

export function crash(name: string, code: number): Ending {
  if (code === 0) return { kind: 'disconnected', reason: 'ended', killed: false };
  return { kind: 'error', cause: 'exit', code, signal: null, message: `${name}: exited with code ${code}` };
}

export function failure(name: string, more: Partial<Failed> = {}): Failed {
  return { kind: 'error', cause: 'spawn', message: `${name}: could not be started`, ...more };
}
