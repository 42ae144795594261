import type { Socket } from 'node:net';
import { loadBundle } from '../../bin/load-bundle.js';
import type { DaemonStatus, Fleet } from '../../fleet/fleet.js';
import { remoteFleet } from '../../ipc/client/remote-fleet.js';
import type { Peer } from '../../ipc/jsonrpc/peer.js';
import { connectSocket, openSocket } from '../../ipc/socket/connect-socket.js';
import { firstAnswer } from '../../ipc/socket/first-answer.js';
import { findSocketPath } from '../../ipc/socket/socket-path.js';
import { compareVersions } from '../../shared/compare-versions.js';
import { VERSION } from '../../shared/version.js';
import type { CommandContext } from '../core/command.js';
import { agentFileOf } from '../core/config-paths.js';
import { withTimeout } from '../core/timeout.js';

const CLIENT = { name: 'toolherd', version: VERSION };

/** What the daemon answers to `fleet/hello`. */
export interface Hello {
  daemon: Pick<DaemonStatus, 'version' | 'pid' | 'closing'>;
}

export interface OpenFleet {
  fleet: Fleet;
  /** The connection has ended, whoever ended it. */
  closed: Promise<unknown>;
  close(): void;
}

export function socketOf({ flags, environment, paths }: CommandContext): string {
  const flag = typeof flags.socket === 'string' ? flags.socket : undefined;
  return findSocketPath({ flag, environment, stateFolder: paths.stateFolder });
}

/**
 * Which herd a verb is about: `agent`, that of the agent's file where there is one, which has to be allowed; `if
 * allowed`, the same without the file where that was only found and not named; `herd`, the global one.
 */
export type ViewMode = 'agent' | 'if allowed' | 'herd';

/** Connects to the daemon. Where it does not run, or is ending, and may be started, one is. */
export async function openFleet(
  call: CommandContext,
  autostart: boolean,
  viewMode: ViewMode,
): Promise<OpenFleet> {
  const agent = viewMode === 'herd' ? undefined : agentFileOf(call);
  return orStart(call, autostart, async () => {
    const { peer, first, ...opened } = await open(socketOf(call));
    const hello = (file: string | undefined) =>
      first(peer.request('fleet/hello', { client: CLIENT, agent: file })) as Promise<Hello>;
    try {
      const { daemon } = await withTimeout(call, helloWithFallback(call, agent, viewMode, hello));
      noteVersion(call, daemon.version);
      return { opened, close: opened.close, isEnding: Boolean(daemon.closing) };
    } catch (error) {
      opened.close();
      throw error;
    }
  });
}

/** A daemon goes on as it is when the command is updated: said once in each run. */
function noteVersion({ output }: CommandContext, version: string): void {
  if (compareVersions(version, VERSION) >= 0) return;
  output.note(
    `warning: the daemon is older (${version}) than this command (${VERSION}); replace it with: toolherd up --replace`,
  );
}

/** Says hello with the file; without it, and with a word about it, where it was not asked for and may not be used. */
export async function helloWithFallback(
  call: CommandContext,
  agent: string | undefined,
  viewMode: ViewMode,
  hello: (file: string | undefined) => Promise<Hello>,
): Promise<Hello> {
  try {
    return await hello(agent);
  } catch (error) {
    const isOptional = viewMode === 'if allowed' && call.flags.agent === undefined;
    const reason = isOptional ? refusalOf(call, error, agent) : undefined;
    if (reason === undefined) throw error;
    call.output.note(reason);
    return hello(undefined);
  }
}

/** Why an agent's file cannot be used; undefined for an error that is about something else. */
function refusalOf(
  { environment }: CommandContext,
  error: unknown,
  agent: string | undefined,
): string | undefined {
  const { type, message } = error as { type?: string; message: string };
  if (type === 'TrustRequiredError') return `warning: left out: ${message} (see 'toolherd allow')`;
  const { configProblems, problemText } = loadBundle<typeof import('../core/report-error.js')>('failure');
  const problems = configProblems(error, environment);
  return problems && `${problemText(problems, 'warning')}\nwarning: left out: ${agent}`;
}

/** The same, and no more than the connection. `greet`: what a daemon that is just going does not answer any more. */
export async function openDaemon(
  call: CommandContext,
  autostart: boolean,
  greet: (socket: Socket) => Promise<Hello>,
): Promise<Socket> {
  return orStart(call, autostart, async () => {
    const path = socketOf(call);
    const socket = await openSocket({ path });
    const close = () => void socket.destroy();
    try {
      const { daemon } = await firstAnswer(greet(socket), { path, giveUp: close });
      return { opened: socket, close, isEnding: Boolean(daemon.closing) };
    } catch (error) {
      close();
      throw error;
    }
  });
}

interface Greeted<T> {
  opened: T;
  close(): void;
  /** The daemon said that it is ending. */
  isEnding: boolean;
}

async function orStart<T>(
  call: CommandContext,
  autostart: boolean,
  connect: () => Promise<Greeted<T>>,
): Promise<T> {
  const mayStart = autostart && call.flags['no-autostart'] !== true;
  try {
    const { opened, close, isEnding } = await connect();
    if (!isEnding || !mayStart) return opened;
    close();
  } catch (error) {
    if (!isAbsence(error) || !mayStart) throw error;
  }
  call.output.note('starting the daemon …');
  // in a separate bundle: starting a process needs modules that most calls do without
  await loadBundle<typeof import('./ensure-daemon.js')>('start-or-find').ensureDaemon(call);
  return (await connect()).opened;
}

/** Nobody is there, or whoever was has just gone. */
export function isAbsence(error: unknown): boolean {
  const type = error instanceof Error && 'type' in error && error.type;
  return type === 'DaemonNotRunningError' || type === 'ConnectionLostError';
}

interface Opened extends OpenFleet {
  peer: Peer;
  /** For the first question: a daemon that does not answer it is given up. */
  first<T>(asked: Promise<T>): Promise<T>;
}

export async function open(path: string, absentMs = 0): Promise<Opened> {
  const peer = await connectSocket({ path, retry: { absentMs } });
  return {
    fleet: remoteFleet(peer),
    closed: peer.closed,
    close: () => peer.destroy(),
    peer,
    first: (asked) => firstAnswer(asked, { path, giveUp: (reason) => peer.destroy(reason) }),
  };
}
