import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CLOSING, type Closing } from '../../fleet/events.js';
import type { Caller, LocalFleet } from '../../fleet/fleet.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import { bufferPool } from '../../shared/framing/buffer-pool.js';
import { VERSION } from '../../shared/version.js';
import { Params } from '../jsonrpc/params.js';
import { Peer } from '../jsonrpc/peer.js';
import type { WriteQueueLimits } from '../jsonrpc/write-queue.js';
import type { SuspendableCall } from '../mcp/mcp-2026/suspendable-call.js';
import { McpSession } from '../mcp/session.js';
import { SuspendedCalls } from '../mcp/suspended-calls.js';
import { Callers, clientOf } from './callers.js';
import { ConnectionFleet } from './connection-fleet.js';
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
}

/** Serves a Fleet to connections, whatever stream they use. */
export interface FleetServer {
  readonly connections: ReadonlySet<Peer>;
  /** A socket needs `allowHalfOpen`, so that `echo … | socat` gets its replies. */
  accept(stream: Duplex, options?: AcceptOptions): Peer;
  /** Sends `fleet/closing` to the connections that asked for it: the daemon begins to end. */
  announce(why: Closing): void;
  /** The servers have stopped: the daemon goes from `closing` to `closed`. */
  shutDown(): void;
  /** Ends every connection after it took what was sent to it, or after the grace. Later connections are refused. */
  close(graceMs?: number): Promise<void>;
}

export function serveFleet(herd: LocalFleet | FleetProvider, options: FleetServerOptions = {}): FleetServer {
  const {
    clock = systemClock,
    report,
    limits,
    onShutdown = () => undefined,
    callers = new Callers(),
    lifecycle = new Lifecycle(),
  } = options;
  const identity = options.identity ?? describeProcess();
  const provider = 'global' in herd ? herd : singleFleetProvider(herd);
  const connections = new Set<Peer>();
  const connectionFleets = new Map<string, ConnectionFleet>();
  const suspended = new SuspendedCalls<SuspendableCall>(clock);
  /** Connections that asked for `fleet/closing`. */
  const attached = new Set<Peer>();
  let accepted = 0;

  function announce(why: Closing): void {
    if (lifecycle.beginClosing(why)) for (const peer of attached) peer.notify(CLOSING, why);
  }

  function notifyOfClosing(peer: Peer): void {
    attached.add(peer);
    if (lifecycle.why !== null) peer.notify(CLOSING, lifecycle.why);
  }

  function shutDown(): void {
    if (lifecycle.close()) onShutdown();
  }

  /** A connection with an agent file sees the calls of this file only; one without sees all. */
  function sees(caller: string | null, { agent }: ConnectionFleet): boolean {
    return agent === null || connectionFleets.get(caller ?? '')?.agent === agent;
  }

  function accept(
    stream: Duplex,
    { isStateless = false, via = 'socket', agentFiles }: AcceptOptions = {},
  ): Peer {
    // a socket has copied the bytes that it took; a virtual connection still holds them
    const spent = stream instanceof Socket ? release : undefined;
    const peer = new Peer(stream, { clock, spent, ...(report && { report }), ...(limits && { limits }) });
    accepted += 1;
    const caller = `connection ${accepted}`;
    const connectionFleet = new ConnectionFleet(provider, caller, agentFiles);
    connectionFleets.set(caller, connectionFleet);
    const { fleet } = connectionFleet;
    const who: Caller = {
      via,
      client: null,
      get agent() {
        return connectionFleet.agent;
      },
    };
    callers.join(caller, who);
    const introduce = (info: unknown) => {
      who.client = clientOf(info) ?? who.client;
    };
    const subscriptions = new EventSubscriptions(fleet, (event) => {
      if (event.topic !== 'call' || sees(event.caller, connectionFleet)) peer.notify('fleet/event', event);
    });
    const mcp = new McpSession({
      ...{ fleet, peer, caller, introduce, clock },
      suspended: isStateless ? suspended : undefined,
    });
    const connection: Connection = {
      ...{ caller, fleet, connectionFleet, peer, identity, introduce, subscriptions, mcp, lifecycle },
      shutDown,
      notifyOfClosing: () => notifyOfClosing(peer),
      closing(why) {
        options.onClosing?.(why);
        announce(why);
        return attached.size;
      },
    };
    for (const [name, method] of Object.entries(METHODS)) {
      peer.handle(name, (params, context) => method(connection, new Params(params), context));
    }
    handleMcp(peer, mcp);
    if (lifecycle.state.name === 'closed') peer.destroy('the daemon ends');
    connections.add(peer);
    void peer.closed.then((reason) => {
      connections.delete(peer);
      attached.delete(peer);
      if (peer.wasDropped && lifecycle.state.name !== 'closed') options.onDropped?.(caller, reason);
      subscriptions.end();
      // a suspended call still needs the servers of this view
      void mcp.end().then(() => {
        connectionFleets.delete(caller);
        callers.leave(caller);
        connectionFleet.close();
      });
    });
    return peer;
  }

  async function close(graceMs = 1000): Promise<void> {
    lifecycle.close();
    suspended.close();
    const open = [...connections];
    const timer = clock.setTimeout(() => {
      for (const peer of open) peer.destroy('the daemon ends');
    }, graceMs);
    for (const peer of open) peer.end();
    await Promise.all(open.map(({ closed }) => closed));
    clock.clearTimeout(timer);
  }

  return { connections, accept, announce, shutDown, close };
}

function describeProcess(): Identity {
  return { version: VERSION, pid: process.pid, started_at: new Date().toISOString() };
}
