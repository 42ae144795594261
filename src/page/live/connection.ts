import { FleetError } from './fleet-error.js';

/** What the connection needs of a WebSocket. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((message: never) => void) | null;
  onclose: ((event: never) => void) | null;
}

export type LinkState =
  | { kind: 'connecting'; since: number }
  | { kind: 'open'; since: number }
  /** `since`: when the page last heard of the daemon. */
  | { kind: 'lost'; since: number; why: string };

export interface RequestOptions {
  /** An abort rejects with `CancelledError`, and the daemon cancels the request. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Progress {
  progress?: number;
  total?: number;
  message?: string;
}

export interface ConnectionOptions {
  open(): Socket;
  /** Called after each change of the state. */
  onState(state: LinkState): void;
  onNotification(method: string, params: Record<string, unknown>): void;
  /** Says why no connection could be opened; undefined: the daemon does not answer. */
  explain?: (() => Promise<string | undefined>) | undefined;
  now?: () => number;
}

/** A daemon that ends is lost at once; one that hangs after at most QUIET + TICK + ANSWER = 1.6 s. */
const TICK_MS = 200;
const QUIET_MS = 400;
const ANSWER_MS = 1000;
/** Timers that fire this late were held back by the browser: silence before that says nothing. */
const LATE_MS = 1500;
const GIVE_UP_MS = 10_000;
const OPEN_MS = 4000;
const BACKOFF_MS = [250, 500, 1000, 2000, 4000] as const;

interface Pending {
  resolve(result: unknown): void;
  reject(error: FleetError): void;
  onProgress: RequestOptions['onProgress'];
}

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/**
 * JSON-RPC over one WebSocket. A daemon that hangs is `lost`, but the socket stays open for GIVE_UP_MS: when the daemon
 * answers again, no request is lost. A closed socket is opened again with a backoff, for as long as the page is open.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #now: () => number;
  readonly #pending = new Map<number, Pending>();
  #socket: Socket | undefined;
  #isOpen = false;
  #state: LinkState;
  #nextId = 1;
  #heardAt: number;
  #pingedAt: number | undefined;
  #tickedAt: number;
  #openedAt = 0;
  #failures = 0;
  #ticker: ReturnType<typeof setInterval>;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const now = this.#now();
    this.#heardAt = now;
    this.#tickedAt = now;
    this.#state = { kind: 'connecting', since: now };
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#connect();
  }

  get state(): LinkState {
    return this.#state;
  }

  request<Result>(method: string, params: object = {}, options: RequestOptions = {}): Promise<Result> {
    const { signal, onProgress } = options;
    if (!this.#isOpen) return Promise.reject(notConnected());
    if (signal?.aborted) return Promise.reject(cancelled());
    const id = this.#nextId++;
    return new Promise<Result>((resolve, reject) => {
      const onAbort = () => {
        if (!this.#pending.delete(id)) return;
        this.#send({ method: '$/cancel', params: { id } });
        reject(cancelled());
      };
      const settle = () => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort);
      this.#pending.set(id, {
        resolve: (result) => {
          settle();
          resolve(result as Result);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
        onProgress,
      });
      const meta = onProgress === undefined ? {} : { _meta: { progressToken: id } };
      this.#send({ id, method, params: { ...params, ...meta } });
    });
  }

  notify(method: string, params: object = {}): void {
    if (this.#isOpen) this.#send({ method, params });
  }

  /** Connects anew at once. Requests to a daemon that hangs fail. */
  retryNow(): void {
    if (this.#state.kind !== 'lost') return;
    if (this.#socket !== undefined) this.#drop('the daemon does not answer');
    this.#connect();
  }

  close(): void {
    clearInterval(this.#ticker);
    this.#drop('the page closed the connection');
    clearTimeout(this.#retry);
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#openedAt = this.#now();
    const socket = this.#options.open();
    this.#socket = socket;
    socket.onopen = () => {
      this.#isOpen = true;
      this.#failures = 0;
      this.#heard();
    };
    socket.onmessage = ({ data }: { data: unknown }) => {
      this.#heard();
      if (typeof data === 'string') this.#receive(data);
    };
    // the notice of the end comes before it, but not to a page that was just connecting
    socket.onclose = ({ reason }: { reason: string }) =>
      this.#drop(reason === DAEMON_ENDS ? 'it was stopped' : 'the daemon closed the connection');
  }

  #drop(why: string): void {
    const wasOpen = this.#isOpen;
    const socket = this.#socket;
    this.#isOpen = false;
    this.#socket = undefined;
    this.#pingedAt = undefined;
    if (socket !== undefined) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const { reject } of this.#pending.values()) reject(connectionLost());
    this.#pending.clear();
    this.#lost(wasOpen ? why : 'the daemon does not answer');
    const pause = BACKOFF_MS[Math.min(this.#failures++, BACKOFF_MS.length - 1)]!;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), pause);
    if (!wasOpen) void this.#explain();
  }

  async #explain(): Promise<void> {
    const why = await this.#options.explain?.();
    if (why === undefined || this.#state.kind !== 'lost') return;
    this.#set({ ...this.#state, why });
  }

  #tick(): void {
    const now = this.#now();
    const isLate = now - this.#tickedAt > LATE_MS;
    this.#tickedAt = now;
    if (isLate) this.#pingedAt = undefined;
    if (this.#socket !== undefined && !this.#isOpen) {
      if (now - this.#openedAt > OPEN_MS) this.#drop('the daemon does not answer');
      return;
    }
    if (!this.#isOpen) return;
    if (this.#pingedAt === undefined) {
      if (isLate || now - this.#heardAt >= QUIET_MS) this.#ping(now);
      return;
    }
    const silentMs = now - this.#pingedAt;
    if (silentMs > GIVE_UP_MS) this.#drop('the daemon does not answer');
    else if (silentMs >= ANSWER_MS) this.#lost('the daemon does not answer');
  }

  /** MCP's ping: the cheapest request that the daemon answers. */
  #ping(now: number): void {
    this.#pingedAt = now;
    this.#send({ id: this.#nextId++, method: 'ping' });
  }

  #heard(): void {
    const now = this.#now();
    this.#heardAt = now;
    this.#pingedAt = undefined;
    if (this.#state.kind !== 'open') this.#set({ kind: 'open', since: now });
  }

  #lost(why: string): void {
    if (this.#state.kind !== 'lost') this.#set({ kind: 'lost', since: this.#heardAt, why });
  }

  #set(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #receive(text: string): void {
    const { id, method, params = {}, result, error } = JSON.parse(text) as Message;
    if (method === 'notifications/progress') {
      this.#pending.get(Number(params.progressToken))?.onProgress?.(params as Progress);
      return;
    }
    if (method !== undefined) {
      // the page answers no request of the daemon
      if (id === undefined) this.#options.onNotification(method, params);
      return;
    }
    if (id === undefined) return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(FleetError.from(error));
  }
}

/** The reason with which a daemon that ends closes a connection. */
const DAEMON_ENDS = 'the daemon ends';

function notConnected(): FleetError {
  return new FleetError('the page is not connected to the daemon', {
    type: 'DaemonUnreachableError',
    why: 'the daemon does not answer',
    fix: 'wait until the page is connected again, or run "toolherd ui" for a new page',
  });
}

function connectionLost(): FleetError {
  return new FleetError('the connection to the daemon was lost before the answer', {
    type: 'ConnectionLostError',
    why: 'the request may have run',
    fix: 'look at the state before you try again',
  });
}

function cancelled(): FleetError {
  return new FleetError('cancelled', { type: 'CancelledError' });
}
