import type { Socket } from 'node:net';
import { loadBundle } from '../../bin/load-bundle.js';
import type { Fleet } from '../../fleet/fleet.js';
import type { Hello } from '../../fleet/hello.js';
import { agentFileOf } from '../../install/load-options.js';
import { remoteFleet } from '../../ipc/client/remote-fleet.js';
import type { Peer } from '../../ipc/jsonrpc/peer.js';
import { connectSocket, firstAnswer, openSocket } from '../../ipc/socket/connect-socket.js';
import { findSocketPath } from '../../ipc/socket/socket-path.js';
import { shuttingDown } from '../../shared/call-errors.js';
import { compareVersions } from '../../shared/text/compare-versions.js';
import { VERSION } from '../../shared/version.js';
import type { CommandContext } from '../core/command.js';
import { limitByTimeoutOption } from '../core/timeout.js';
import { checkDaemonConfig, checkNamedConfig } from './config-file.js';

const CLIENT = { name: 'toolherd', version: VERSION };

export interface OpenFleet {
  fleet: Fleet;
  /** The connection has ended, from either side. */
  closed: Promise<unknown>;
  close(): void;
}

export function socketOf({ globals, environment, paths }: CommandContext): string {
  return findSocketPath({ flag: globals.socket, environment, stateFolder: paths.stateFolder });
}

/**
 * Which herd a command sees. `agent`: with the servers of the agent's file, if there is one; it must be allowed. `if
 * allowed`: the same, but a file that was found, not named, and is not allowed is left out. `herd`: the global one.
 */
export type ViewMode = 'agent' | 'if allowed' | 'herd';

/** Connects to the daemon. Starts one if none runs, or the one that runs is ending, and `autostart` allows it. */
export async function openFleet(
  context: CommandContext,
  autostart: boolean,
  viewMode: ViewMode,
): Promise<OpenFleet> {
  const agent = viewMode === 'herd' ? undefined : agentFileOf(context);
  const needsView = agent !== undefined && !isOptional(context, viewMode);
  return startAndRetry(context, { autostart, needsView }, async () => {
    const { peer, first, ...opened } = await connectTo(socketOf(context));
    const hello = (file: string | undefined) =>
      first(
        peer.request('fleet/hello', { client: CLIENT, agent: file, folder: context.cwd }),
      ) as Promise<Hello>;
    try {
      const answer = await limitByTimeoutOption(context, helloWithFallback(context, agent, viewMode, hello));
      noteVersion(context, answer.daemon.version);
      return { opened, close: opened.close, hello: answer };
    } catch (error) {
      opened.close();
      throw error;
    }
  });
}

/** An update of toolherd replaces the command, and the old daemon goes on: each run of the command says so once. */
function noteVersion({ output }: CommandContext, version: string): void {
  if (compareVersions(version, VERSION) >= 0) return;
  output.note(
    `warning: the daemon is older (${version}) than this command (${VERSION}); replace it with: toolherd up --replace`,
  );
}

/** What is doubtful in the agent's file. The bridge prints it, so that it is in the log that the agent keeps of its servers. */
export function noteWarnings({ output }: CommandContext, { warnings = [] }: Hello): void {
  if (warnings.length === 0) return;
  const { problemText } = loadBundle<typeof import('../core/report-error.js')>('report-error');
  output.note(problemText(warnings, 'warning'));
}

/** Says hello with the agent's file. If the file may not be used and was not named, says so and leaves it out. */
export async function helloWithFallback(
  context: CommandContext,
  agent: string | undefined,
  viewMode: ViewMode,
  hello: (file: string | undefined) => Promise<Hello>,
): Promise<Hello> {
  try {
    return await hello(agent);
  } catch (error) {
    const reason = isOptional(context, viewMode) ? refusalOf(context, error, agent) : undefined;
    if (reason === undefined) throw error;
    context.output.note(reason);
    return hello(undefined);
  }
}

/** Whether the command goes on without the agent's file where that cannot be used. */
function isOptional({ globals }: CommandContext, viewMode: ViewMode): boolean {
  return viewMode === 'if allowed' && globals.agent === undefined;
}

/** Why an agent's file cannot be used; undefined for an error that is about something else. */
function refusalOf(
  { environment }: CommandContext,
  error: unknown,
  agent: string | undefined,
): string | undefined {
  const { type, message } = error as { type?: string; message: string };
  if (type === 'TrustRequiredError') return `warning: left out: ${message} (see 'toolherd allow')`;
  const { configProblems, problemText } =
    loadBundle<typeof import('../core/report-error.js')>('report-error');
  const problems = configProblems(error, environment);
  return problems && `${problemText(problems, 'warning')}\nwarning: left out: ${agent}`;
}

/** The same, for a caller that speaks on the bare socket. `greet` says hello; a daemon that is ending does not answer it. */
export async function openDaemon(
  context: CommandContext,
  needs: DaemonNeeds,
  greet: (socket: Socket) => Promise<Hello>,
): Promise<Socket> {
  return startAndRetry(context, needs, async () => {
    const path = socketOf(context);
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

interface DaemonNeeds {
  autostart: boolean;
  /** The connection is of no use without the view of the agent's file, which a daemon that is ending does not open. */
  needsView: boolean;
}

interface Greeted<T> {
  opened: T;
  close(): void;
  hello: Hello;
}

async function startAndRetry<T>(
  context: CommandContext,
  { autostart, needsView }: DaemonNeeds,
  connect: () => Promise<Greeted<T>>,
): Promise<T> {
  const mayStart = autostart && !context.globals['no-autostart'];
  checkNamedConfig(context);
  try {
    const greeted = checked(context, await connect());
    if (!greeted.hello.daemon.closing || !mayStart) return usable(greeted, needsView);
    greeted.close();
  } catch (error) {
    if (!isDaemonAbsent(error) || !mayStart) throw error;
  }
  context.output.note('starting the daemon …');
  // in a separate bundle: starting a process needs modules that most calls do without
  await loadBundle<typeof import('./start.js')>('start-daemon').ensureDaemon(context);
  return usable(checked(context, await connect()), needsView);
}

/** A daemon that is ending is not checked: its successor may read the file that --config names. */
function checked<T>(context: CommandContext, greeted: Greeted<T>): Greeted<T> {
  const { closing, config_file } = greeted.hello.daemon;
  try {
    if (!closing) checkDaemonConfig(context, config_file);
    return greeted;
  } catch (error) {
    greeted.close();
    throw error;
  }
}

function usable<T>({ opened, close, hello }: Greeted<T>, needsView: boolean): T {
  if (!hello.daemon.closing || !needsView || hello.agent !== null) return opened;
  close();
  throw shuttingDown();
}

/** No daemon listens, or the one that did has just ended. */
export function isDaemonAbsent(error: unknown): boolean {
  const type = error instanceof Error && 'type' in error && error.type;
  return type === 'DaemonNotRunningError' || type === 'ConnectionLostError';
}

interface Opened extends OpenFleet {
  peer: Peer;
  /** For the first request: gives up a daemon that does not answer it. */
  first<T>(asked: Promise<T>): Promise<T>;
}

export async function connectTo(path: string, absentMs = 0): Promise<Opened> {
  const peer = await connectSocket({ path, retry: { absentMs } });
  return {
    fleet: remoteFleet(peer),
    closed: peer.closed,
    close: () => peer.destroy(),
    peer,
    first: (asked) => firstAnswer(asked, { path, giveUp: (reason) => peer.destroy(reason) }),
  };
}
