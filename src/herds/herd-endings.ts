import type { HerdSpec } from '../config/fields/spec.js';
import { failureLines } from '../link/failures/failure-lines.js';
import type { Failed } from '../machines/restart/ending.js';
import { isCode } from '../shared/errors.js';
import { seconds } from '../shared/text/seconds.js';
import { shellWord } from '../shared/text/shell-word.js';
import { API_VERSION, VERSION } from '../shared/version.js';
import { ALIVE_SECONDS } from './ssh-arguments.js';
import type { SshEnd } from './ssh-process.js';

/** ssh itself failed; any other status is that of the command which it ran. */
const SSH_FAILED = 255;
const NOT_FOUND = 127;

interface Cause {
  found: RegExp;
  message(host: string): string;
  fix(spec: HerdSpec): string;
  /** A person most likely has to correct something. */
  isSetting?: true;
}

const again = ({ name }: HerdSpec) => `; then: toolherd start ${shellWord(name)}`;
const ssh = ({ address }: HerdSpec) => `ssh ${shellWord(address)}`;

/** What ssh says, and what it means. The first that fits counts. */
const CAUSES: readonly Cause[] = [
  {
    found: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    message: (host) => `the key of ${host} is not the one that ssh knows`,
    fix: (spec) =>
      `find out why it changed; if you expect it, remove the old one with ssh-keygen -R, and check the new one with: ${ssh(spec)}${again(spec)}`,
    isSetting: true,
  },
  {
    found: /Host key verification failed|No \S+ host key is known/,
    message: (host) => `ssh does not know the key of ${host}`,
    fix: (spec) => `connect once in a terminal and check the key: ${ssh(spec)}${again(spec)}`,
    isSetting: true,
  },
  {
    found: /Permission denied/,
    message: (host) => `${host} did not accept a key of yours`,
    fix: (spec) =>
      `make "ssh -o BatchMode=yes ${shellWord(spec.address)} true" work: ssh-copy-id, or ssh-add for a key with a passphrase. The daemon uses the agent of the shell that started it: toolherd up --replace`,
    isSetting: true,
  },
  {
    found: /Could not resolve hostname/,
    message: (host) => `the name ${host} is not known`,
    fix: (spec) => `check the network, and 'ssh' of the herd ${spec.name}`,
  },
  {
    found: /Connection refused/,
    message: (host) => `no ssh server answers at ${host} (connection refused)`,
    fix: () => 'start the ssh server there, or check the port in your ssh config',
  },
  {
    found: /Timeout, server .* not responding|Connection to .* (timed out|closed)|Broken pipe/,
    message: (host) => `the line to ${host} is dead: no answer for ${seconds(ALIVE_SECONDS * 3000)}`,
    fix: () => 'check the network; toolherd connects again when the machine answers',
  },
  {
    found: /timed out|No route to host|Network is unreachable|Host is down/,
    message: (host) => `${host} does not answer`,
    fix: () => 'check the network, and that the machine is awake',
  },
  {
    found: /administratively prohibited|request denied by peer|Could not request local forwarding/,
    message: (host) => `${host} does not allow the forwarding of its socket`,
    fix: (spec) => `set AllowStreamLocalForwarding and AllowTcpForwarding in its sshd_config${again(spec)}`,
    isSetting: true,
  },
];

/** Why ssh ended. `step`: `ask` starts the daemon there and asks for its socket, `forward` keeps the connection. */
export function sshEnded(
  spec: HerdSpec,
  step: 'ask' | 'forward',
  end: SshEnd,
  stderr: string,
  redact: (text: string) => string,
): Failed {
  const { shown } = failureLines(stderr, redact);
  const why = shown === '' ? {} : { why: shown };
  const { address, command } = spec;
  if (end.failure !== undefined) {
    const isMissing = isCode(end.failure, 'ENOENT');
    const message = isMissing ? 'there is no ssh on this machine' : 'ssh could not be started';
    return failure(spec, message, { why: end.failure.message, fix: 'install the ssh client of OpenSSH' });
  }
  if (step === 'ask' && end.code === NOT_FOUND) {
    const fix = `install it there with: npm install -g toolherd. If it is there, write the full path of it as 'command' of the herd ${spec.name}: ssh runs no login shell`;
    const message = `the shell of ${address} finds no ${shellWord(command)}`;
    return failure(spec, message, { ...why, fix, looksMisconfigured: true });
  }
  if (step === 'ask' && end.code !== SSH_FAILED && end.signal === null) {
    const fix = `see what it says there: ${ssh(spec)} ${command} up`;
    return failure(spec, `toolherd failed on ${address} (status ${end.code})`, { ...why, fix });
  }
  const known = CAUSES.find(({ found }) => found.test(stderr));
  if (known !== undefined) {
    const { message, fix, isSetting } = known;
    const host = address.slice(address.lastIndexOf('@') + 1);
    return failure(spec, message(host), { ...why, fix: fix(spec), looksMisconfigured: isSetting ?? false });
  }
  const how = end.signal === null ? `ended with status ${end.code}` : `was killed (${end.signal})`;
  return failure(spec, `ssh to ${address} ${how}`, { ...why, fix: `try: ${ssh(spec)}` });
}

/** The shell there printed no path. */
export function noSocketPath(spec: HerdSpec): Failed {
  return failure(spec, `${shellWord(spec.command)} printed no path of a socket on ${spec.address}`, {
    fix: `see what it prints: ${ssh(spec)} ${spec.command} socket`,
    looksMisconfigured: true,
  });
}

/** The socket there is not served. `why`: what ssh or the system said. */
export function noDaemon(spec: HerdSpec, path: string, why: string, wasShutDown: boolean): Failed {
  const message = wasShutDown ? 'its daemon was stopped' : `no daemon answers on ${path}`;
  const fix =
    spec.transport === 'socket'
      ? 'start the daemon of that herd with: toolherd up'
      : `start it there with: ${ssh(spec)} ${spec.command} up`;
  return failure(spec, message, { ...(why === '' ? {} : { why }), fix });
}

/** The daemon closed the connection, or ended. */
export function daemonLost(spec: HerdSpec, why: string, wasShutDown: boolean): Failed {
  const message = wasShutDown
    ? 'its daemon was stopped by an order'
    : `the connection to its daemon ended (${why})`;
  return failure(spec, message, {
    fix: wasShutDown ? 'start it again where it runs, with: toolherd up' : 'toolherd connects again',
  });
}

export function otherVersion(spec: HerdSpec, { version, api }: { version: string; api: number }): Failed {
  const isOlder = api < API_VERSION;
  const message = `its toolherd ${version} speaks version ${api} of the protocol of the socket, this one (${VERSION}) version ${API_VERSION}`;
  const fix = isOlder
    ? `install this version there, and run there: toolherd up --replace${again(spec)}`
    : 'install that version here, then: toolherd up --replace';
  return failure(spec, message, { fix, cause: 'protocol', looksMisconfigured: true });
}

export function notOpened(spec: HerdSpec, why: string): Failed {
  return failure(spec, `the handshake with its daemon failed: ${why}`, {
    cause: 'protocol',
    fix: `see "toolherd logs ${shellWord(spec.name)}"`,
  });
}

export function tooSlow(spec: HerdSpec): Failed {
  return failure(spec, `not connected in ${seconds(spec.timeoutMs)}`, {
    cause: 'timeout',
    fix: `check that it answers: ${spec.transport === 'ssh' ? `${ssh(spec)} ${spec.command} status` : 'toolherd status'}`,
  });
}

function failure({ name }: HerdSpec, message: string, details: Partial<Failed>): Failed {
  return { kind: 'error', cause: 'lost', ...details, message: `${name}: ${message}` };
}
