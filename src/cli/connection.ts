import type { Socket } from 'node:net';
import { connectSocket, openSocket } from '../ipc/connect-socket.js';
import { firstAnswer } from '../ipc/first-answer.js';
import type { DaemonStatus, Fleet } from '../ipc/fleet.js';
import type { Peer } from '../ipc/peer.js';
import { remoteFleet } from '../ipc/remote-fleet.js';
import { findSocketPath } from '../ipc/socket-path.js';
import { VERSION } from '../version.js';
import { agentFileOf } from './files.js';
import { loadBundle } from './load-bundle.js';
import type { Call } from './verb.js';

const CLIENT = { name: 'toolherd', version: VERSION };
/** Why an agent's file cannot be used. */
const REFUSALS = ['TrustRequiredError', 'ConfigError', 'MCPConfigError'];

export interface OpenFleet {
  fleet: Fleet;
  /** The connection has ended, whoever ended it. */
  closed: Promise<unknown>;
  close(): void;
}

export function socketOf({ flags, environment, paths }: Call): string {
  const flag = typeof flags.socket === 'string' ? flags.socket : undefined;
  return findSocketPath({ flag, environment, stateFolder: paths.stateFolder });
}

/**
 * Which herd a verb is about: `agent`, that of the agent's file where there is one, which has to be allowed; `if
 * allowed`, the same without the file where that was only found and not named; `herd`, the global one.
 */
export type Outlook = 'agent' | 'if allowed' | 'herd';

/** Connects to the daemon. Where it does not run and may be started, it is. */
export async function openFleet(call: Call, autostart: boolean, outlook: Outlook): Promise<OpenFleet> {
  const agent = outlook === 'herd' ? undefined : agentFileOf(call);
  return orStart(call, autostart, async () => {
    const { peer, first, ...opened } = await open(socketOf(call));
    const hello = async (file: string | undefined) => {
      const answer = await first(peer.request('fleet/hello', { client: CLIENT, agent: file }));
      noteVersion(call, (answer as { daemon: { version: string } }).daemon.version);
    };
    if (agent === undefined) {
      // nobody has to wait for it: requests are answered in their order
      hello(undefined).catch(() => undefined);
      return opened;
    }
    try {
      await seeing(call, agent, outlook, hello);
    } catch (error) {
      opened.close();
      throw error;
    }
    return opened;
  });
}

/** A daemon goes on as it is when the command is updated: said once in each run. */
function noteVersion({ output }: Call, version: string): void {
  if (!isOlder(version, VERSION)) return;
  output.note(
    `warning: the daemon is older (${version}) than this command (${VERSION}); replace it with: toolherd up --replace`,
  );
}

function isOlder(one: string, other: string): boolean {
  const numbers = (version: string) => version.split('-')[0]!.split('.').map(Number);
  const [ours, theirs] = [numbers(one), numbers(other)];
  const at = ours.findIndex((number, index) => number !== theirs[index]);
  return at !== -1 && ours[at]! < (theirs[at] ?? 0);
}

/** Says hello with the file; without it, and with a word about it, where it was not asked for and may not be used. */
export async function seeing(
  { flags, output }: Call,
  agent: string | undefined,
  outlook: Outlook,
  hello: (file: string | undefined) => Promise<void>,
): Promise<void> {
  try {
    await hello(agent);
  } catch (error) {
    const { type, message } = error as { type?: string; message: string };
    const isOptional = outlook === 'if allowed' && flags.agent === undefined;
    if (!isOptional || !REFUSALS.includes(type ?? '')) throw error;
    output.note(`warning: left out: ${message} (see 'toolherd allow')`);
    await hello(undefined);
  }
}

/** The same, and no more than the connection. `greet`: what a daemon that is just going does not answer any more. */
export async function openDaemon(
  call: Call,
  autostart: boolean,
  greet: (socket: Socket) => Promise<void>,
): Promise<Socket> {
  return orStart(call, autostart, async () => {
    const path = socketOf(call);
    const socket = await openSocket({ path });
    try {
      await firstAnswer(greet(socket), { path, giveUp: () => socket.destroy() });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket;
  });
}

async function orStart<T>(call: Call, autostart: boolean, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    if (!isAbsence(error) || !autostart || call.flags['no-autostart'] === true) throw error;
  }
  call.output.note('starting the daemon …');
  // a bundle of its own: to start a process takes modules that most calls do without
  await loadBundle<typeof import('./start-or-find.js')>('start-or-find').startOrFind(call);
  return connect();
}

/** The daemon that serves; undefined where none does. `absentMs`: for how long one is waited for. */
export async function findDaemon(call: Call, absentMs = 0): Promise<DaemonStatus | undefined> {
  try {
    const { fleet, close, first } = await open(socketOf(call), absentMs);
    const { daemon } = await first(fleet.status([]));
    close();
    return daemon;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Nobody is there, or whoever was has just gone. */
function isAbsence(error: unknown): boolean {
  const type = error instanceof Error && 'type' in error && error.type;
  return type === 'DaemonNotRunningError' || type === 'ConnectionLostError';
}

interface Opened extends OpenFleet {
  peer: Peer;
  /** For the first question: a daemon that does not answer it is given up. */
  first<T>(asked: Promise<T>): Promise<T>;
}

async function open(path: string, absentMs = 0): Promise<Opened> {
  const peer = await connectSocket({ path, retry: { absentMs } });
  return {
    fleet: remoteFleet(peer),
    closed: peer.closed,
    close: () => peer.destroy(),
    peer,
    first: (asked) => firstAnswer(asked, { path, giveUp: (reason) => peer.destroy(reason) }),
  };
}
