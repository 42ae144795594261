import type { Socket } from 'node:net';
import { loadBundle } from '../../bin/load-bundle.js';
import type { DaemonStatus, Fleet } from '../../fleet/fleet.js';
import { remoteFleet } from '../../ipc/client/remote-fleet.js';
import type { Peer } from '../../ipc/jsonrpc/peer.js';
import { connectSocket, firstAnswer, openSocket } from '../../ipc/socket/connect-socket.js';
import { findSocketPath } from '../../ipc/socket/socket-path.js';
import { shuttingDown } from '../../shared/call-errors.js';
import { compareVersions } from '../../shared/compare-versions.js';
import { VERSION } from '../../shared/version.js';
import type { CommandContext } from '../core/command.js';
import { agentFileOf } from '../core/config-paths.js';
import { withTimeout } from '../core/timeout.js';

const CLIENT = { name: 'toolherd', version: VERSION };

/** What the daemon answers to `fleet/hello`. */
export interface Hello {
  daemon: Pick<DaemonStatus, 'version' | 'pid' | 'closing'>;
  /** The file of the agent whose view the connection has; null for the global herd. */
  agent: string | null;
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
  const needsView = agent !== undefined && !isOptional(call, viewMode);
  return orStart(call, { autostart, needsView }, async () => {
    const { peer, first, ...opened } = await open(socketOf(call));
    const hello = (file: string | undefined) =>
      first(peer.request('fleet/hello', { client: CLIENT, agent: file })) as Promise<Hello>;
    try {
      const answer = await withTimeout(call, helloWithFallback(call, agent, viewMode, hello));
      noteVersion(call, answer.daemon.version);
      return { opened, close: opened.close, hello: answer };
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
    const reason = isOptional(call, viewMode) ? refusalOf(call, error, agent) : undefined;
    if (reason === undefined) throw error;
    call.output.note(reason);
    return hello(undefined);
  }
}

/** Whether the command goes on without the agent's file where that cannot be used. */
function isOptional({ flags }: CommandContext, viewMode: ViewMode): boolean {
  return viewMode === 'if allowed' && flags.agent === undefined;
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
  wanted: Wanted,
  greet: (socket: Socket) => Promise<Hello>,
): Promise<Socket> {
  return orStart(call, wanted, async () => {
    const path = socketOf(call);
    const socket = await openSocket({ path });
    const close = () => void socket.destroy();
    try {
      const hello = await firstAnswer(greet(socket), { path, giveUp: close });
      return { opened: socket, close, hello };
    } catch (error) {
      close();
      throw error;
    }
  });
}

interface Wanted {
  autostart: boolean;
  /** The connection is of no use without the view of the agent's file, which a daemon that ends does not open. */
  needsView: boolean;
}

interface Greeted<T> {
  opened: T;
  close(): void;
  hello: Hello;
}

async function orStart<T>(
  call: CommandContext,
  { autostart, needsView }: Wanted,
  connect: () => Promise<Greeted<T>>,
): Promise<T> {
  const mayStart = autostart && call.flags['no-autostart'] !== true;
  try {
    const greeted = await connect();
    if (!greeted.hello.daemon.closing || !mayStart) return usable(greeted, needsView);
    greeted.close();
  } catch (error) {
    if (!isAbsence(error) || !mayStart) throw error;
  }
  call.output.note('starting the daemon …');
  // in a separate bundle: starting a process needs modules that most calls do without
  await loadBundle<typeof import('./ensure-daemon.js')>('start-or-find').ensureDaemon(call);
  return usable(await connect(), needsView);
}

function usable<T>({ opened, close, hello }: Greeted<T>, needsView: boolean): T {
  if (!hello.daemon.closing || !needsView || hello.agent !== null) return opened;
  close();
  throw shuttingDown();
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
