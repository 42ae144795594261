import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isInScope } from '../../fleet/agents.js';
import { CLOSING, type Closing } from '../../fleet/events.js';
import type { Caller, LocalFleet } from '../../fleet/fleet.js';
import { type Clock, isoDateOf, systemClock } from '../../shared/clock.js';
import { bufferPool } from '../../shared/framing/buffer-pool.js';
import { VERSION } from '../../shared/version.js';
import { Params } from '../jsonrpc/params.js';
import { Peer } from '../jsonrpc/peer.js';
import type { WriteQueueLimits } from '../jsonrpc/write-queue.js';
import type { SuspendableCall } from '../mcp/mcp-2026/suspendable-call.js';
import { McpSession } from '../mcp/session.js';
import { SuspendedCalls } from '../mcp/suspended-calls.js';
import { Callers, clientOf, type OpenCaller } from './callers.js';
import { ConnectionFleet } from './connection-fleet.js';
import { sendAll, sendBounded } from './event-sending.js';
import { EventSubscriptions } from './event-subscriptions.js';
import { type Connection, type Identity, METHODS } from './fleet-methods.js';
import { type AgentFiles, type FleetProvider, singleFleetProvider } from './fleet-provider.js';
import { Lifecycle } from './lifecycle.js';
import { handleMcp } from './mcp-methods.js';

const release = (piece: Buffer) => bufferPool.release(piece);

export interface FleetServerOptions {
  identity?: Identity;
  /** Called when a client ends the herd with fleet/shutdown. */
  onClosing?: (why: Closing) => void;
  /** Called once, when the servers have stopped and the client that asked for it has its report: now the socket may go. */
  onShutdown?: () => void;
  /** Of the daemon, where other parts use it too. */
  lifecycle?: Lifecycle;
  /** Called with bugs, whose text no client gets. */
  report?: (error: unknown, method: string) => void;
  /** Called when a connection was dropped because of a limit. */
  onDropped?: (caller: string, reason: string) => void;
  limits?: WriteQueueLimits;
  clock?: Clock;
  /** Gets the client of every connection. */
  callers?: Callers;
}

export interface AcceptOptions {
  /** The connection serves one request; the client may answer a question over another one. */
  isStateless?: boolean;
  /** How the client reached the daemon. Default: over the socket. */
  via?: Caller['via'];
  /** Which agent files its client may name. Default: `trusted`. */
  agentFiles?: AgentFiles;
  /** Instead of the name that the client gives itself: who it is, is known. */
  clientName?: string;
  /** What it sees instead of the herd, and the methods that it may call. Default: all of the herd, and all methods. */
  restricted?: { to: FleetProvider; methods: ReadonlySet<string> };
  /**
   * Events are dropped, and counted, while more bytes wait for the client. Default: events count as everything else
   * does, and a client that does not read them is dropped.
   */
  mostEventBytes?: number;
}

/** Serves a Fleet to connections, whatever stream they use. */
export class FleetServer {
  readonly connections = new Set<Peer>();
  readonly #options: FleetServerOptions;
  readonly #clock: Clock;
  readonly #callers: Callers;
  readonly #lifecycle: Lifecycle;
  readonly #identity: Identity;
  readonly #provider: FleetProvider;
  readonly #connectionFleets = new Map<string, ConnectionFleet>();
  readonly #suspended: SuspendedCalls<SuspendableCall>;
  /** Clients of requests without a session that search tools. */
  readonly #searching = new RecentSet();
  /** Connections that asked for `fleet/closing`, and whether each is that of a page. */
  readonly #attached = new Map<Peer, boolean>();
  #accepted = 0;

  constructor(herd: LocalFleet | FleetProvider, options: FleetServerOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#callers = options.callers ?? new Callers();
    this.#lifecycle = options.lifecycle ?? new Lifecycle();
    this.#identity = options.identity ?? describeProcess();
    this.#provider = 'global' in herd ? herd : singleFleetProvider(herd);
    this.#suspended = new SuspendedCalls(this.#clock);
  }

  /** A socket needs `allowHalfOpen`, so that `echo … | socat` gets its replies. */
  accept(stream: Duplex, options: AcceptOptions = {}): Peer {
    const { isStateless = false, via = 'socket', agentFiles, mostEventBytes } = options;
    const { clientName, restricted } = options;
    const peer = this.#openPeer(stream);
    this.#accepted += 1;
    const caller = `connection ${this.#accepted}`;
    const connectionFleet = new ConnectionFleet(restricted?.to ?? this.#provider, caller, agentFiles);
    this.#connectionFleets.set(caller, connectionFleet);
    const { fleet } = connectionFleet;
    const introduce = this.#join(caller, via, connectionFleet, clientName);
    const send = mostEventBytes === undefined ? sendAll(peer) : sendBounded(peer, mostEventBytes);
    const subscriptions = new EventSubscriptions(fleet, (event) => {
      if (event.topic !== 'call' || this.#sees(event.caller, connectionFleet)) send(event);
    });
    const mcp = new McpSession({
      ...{ fleet, peer, caller, introduce, clock: this.#clock },
      separator: () => connectionFleet.separator,
      surface: () => connectionFleet.surface,
      // a result is for the view that got it: a connection can change to another one
      owner: () => [isStateless ? this.#turnOf(caller) : caller, ...connectionFleet.viewName].join('\0'),
      ...(isStateless && {
        suspended: this.#suspended,
        turn: () => this.#turnOf(caller),
        searching: this.#searching,
      }),
    });
    const connection: Connection = {
      ...{ caller, fleet, connectionFleet, peer, introduce, subscriptions, mcp },
      identity: restricted === undefined ? this.#identity : withoutPaths(this.#identity),
      lifecycle: this.#lifecycle,
      shutDown: () => this.shutDown(),
      notifyOfClosing: () => this.#notifyOfClosing(peer, via === 'page'),
      closing: (why) => this.#begin(why),
    };
    for (const [name, method] of Object.entries(METHODS)) {
      if (restricted?.methods.has(name) === false) continue;
      peer.handle(name, (params, context) => method(connection, new Params(params), context));
    }
    handleMcp(peer, mcp);
    if (this.#isClosed) peer.destroy('the daemon ends');
    this.connections.add(peer);
    void peer.closed.then((reason) => {
      subscriptions.end();
      this.#closed(peer, caller, reason);
      // a suspended call still needs the servers of this view
      void mcp.end().then(() => this.#leave(caller));
    });
    return peer;
  }

  /** Sends `fleet/closing` to the connections that asked for it: the daemon begins to end. */
  announce(why: Closing): void {
    if (this.#lifecycle.beginClosing(why))
      for (const peer of this.#attached.keys()) peer.notify(CLOSING, why);
  }

  /** The servers have stopped: the daemon goes from `closing` to `closed`. */
  shutDown(): void {
    if (this.#lifecycle.close()) this.#options.onShutdown?.();
  }

  /** Ends every connection after it took what was sent to it, or after the grace. Later connections are refused. */
  async close(graceMs = 1000): Promise<void> {
    this.#lifecycle.close();
    this.#suspended.close();
    const open = [...this.connections];
    const timer = this.#clock.setTimeout(() => {
      for (const peer of open) peer.destroy('the daemon ends');
    }, graceMs);
    for (const peer of open) peer.end();
    await Promise.all(open.map(({ closed }) => closed));
    this.#clock.clearTimeout(timer);
  }

  get #isClosed(): boolean {
    return this.#lifecycle.state.name === 'closed';
  }

  #openPeer(stream: Duplex): Peer {
    const { report, limits } = this.#options;
    // a socket has copied the bytes that it took; a virtual connection still holds them
    const spent = stream instanceof Socket ? release : undefined;
    return new Peer(stream, {
      clock: this.#clock,
      spent,
      ...(report && { report }),
      ...(limits && { limits }),
    });
  }

  /** Returns the function that takes the name and version that the client gives itself. */
  #join(
    caller: string,
    via: Caller['via'],
    connectionFleet: ConnectionFleet,
    clientName: string | undefined,
  ): Connection['introduce'] {
    const named = (info: unknown) => {
      const client = clientOf(info);
      return clientName === undefined ? client : { name: clientName, version: client?.version ?? null };
    };
    const who: OpenCaller = {
      via,
      client: clientName === undefined ? null : named(undefined),
      since: isoDateOf(this.#clock),
      calls: 0,
      get surface() {
        return connectionFleet.surfaceMode ?? null;
      },
      get agent() {
        return connectionFleet.agent;
      },
      get profile() {
        return connectionFleet.profile;
      },
    };
    this.#callers.join(caller, who);
    return (info) => {
      who.client = named(info) ?? who.client;
    };
  }

  /** Each request of 2026-07-28 over HTTP is a connection. A client with hundreds in flight must not have hundreds of turns. */
  #turnOf(caller: string): string {
    return `http client ${this.#callers.of(caller)?.client?.name ?? ''}`;
  }

  /** A connection with an agent file or a profile sees the calls of these only; one without sees all. */
  #sees(caller: string | null, scope: ConnectionFleet): boolean {
    return isInScope(scope, this.#connectionFleets.get(caller ?? ''));
  }

  /** A client has asked for the end. Returns how many agents got the notice: a page makes no calls for one. */
  #begin(why: Closing): number {
    this.#options.onClosing?.(why);
    this.announce(why);
    return [...this.#attached.values()].filter((isPage) => !isPage).length;
  }

  #notifyOfClosing(peer: Peer, isPage: boolean): void {
    this.#attached.set(peer, isPage);
    if (this.#lifecycle.why !== null) peer.notify(CLOSING, this.#lifecycle.why);
  }

  #closed(peer: Peer, caller: string, reason: string): void {
    this.connections.delete(peer);
    this.#attached.delete(peer);
    if (peer.wasDropped && !this.#isClosed) this.#options.onDropped?.(caller, reason);
  }

  #leave(caller: string): void {
    const connectionFleet = this.#connectionFleets.get(caller);
    this.#connectionFleets.delete(caller);
    this.#callers.leave(caller);
    connectionFleet?.close();
  }
}

function withoutPaths({ version, pid, started_at }: Identity): Identity {
  return { version, pid, started_at };
}

const MOST_CLIENTS = 1000;

/** The last clients that were added. */
class RecentSet extends Set<string> {
  override add(client: string): this {
    this.delete(client);
    const [oldest] = this;
    if (this.size >= MOST_CLIENTS && oldest !== undefined) this.delete(oldest);
    return super.add(client);
  }
}

function describeProcess(): Identity {
  return { version: VERSION, pid: process.pid, started_at: new Date().toISOString() };
}
