import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Fleet } from '../fleet/fleet.js';
import type { Hello } from '../fleet/hello.js';
import { remoteFleet } from '../ipc/client/remote-fleet.js';
import { connectSocket, firstAnswer } from '../ipc/socket/connect-socket.js';
import { findSocketPath } from '../ipc/socket/socket-path.js';
import { shuttingDown } from '../shared/call-errors.js';
import { ToolherdError } from '../shared/errors.js';
import { findPaths } from '../shared/files/paths.js';
import { API_VERSION, VERSION } from '../shared/version.js';
import { type TextResult, withText } from './tool-text.js';

export interface ConnectOptions {
  /** Default: `$TOOLHERD_SOCKET`, or where the daemon of this user is. */
  socket?: string | undefined;
  /** An agent.yaml: the client sees the herd in the view of this file. */
  agent?: string | undefined;
  /** A profile of the config, or of `agent`: the client sees this part of the herd. */
  profile?: string | undefined;
  /** How long the daemon may take to answer; default 30 s. */
  timeoutMs?: number | undefined;
}

/** The fleet of a daemon, with the names of the wire, and the connection to it. */
export interface ConnectedFleet extends Fleet {
  call(...call: Parameters<Fleet['call']>): Promise<TextResult>;
  close(): void;
}

export async function connectFleet({
  socket,
  agent,
  profile,
  timeoutMs,
}: ConnectOptions = {}): Promise<ConnectedFleet> {
  const { stateFolder } = findPaths(process.env, homedir());
  const path = findSocketPath({ flag: socket, environment: process.env, stateFolder });
  const peer = await connectSocket({ path });
  try {
    const client = { name: 'toolherd/client', version: VERSION };
    const hello = peer.request('fleet/hello', { client, agent: agent && resolve(agent), profile });
    const giveUp = (reason: string) => peer.destroy(reason);
    const answer = (await firstAnswer(hello, { path, withinMs: timeoutMs, giveUp })) as Hello;
    checkVersion(answer);
    // a daemon that is ending opens no view for an agent: the connection would see the global herd
    if (agent !== undefined && answer.agent === null) throw shuttingDown();
    if (profile !== undefined && answer.profile !== profile)
      throw answer.daemon.closing ? shuttingDown() : withoutProfiles();
  } catch (error) {
    peer.destroy();
    throw error;
  }
  const fleet = remoteFleet(peer);
  return {
    ...fleet,
    call: async (params, context) => withText(await fleet.call(params, context)),
    close: () => peer.destroy(),
  };
}

function withoutProfiles(): ToolherdError {
  return new ToolherdError('the daemon knows no profiles', {
    why: 'it is older than this client',
    fix: "replace it with 'toolherd up --replace'",
  });
}

function checkVersion({ api_version: version }: Hello): void {
  if (version === API_VERSION) return;
  throw new ToolherdError(
    `the daemon speaks version ${version} of the protocol, this client ${API_VERSION}`,
    {
      fix: "start the daemon of this version with 'toolherd up --replace'",
    },
  );
}
