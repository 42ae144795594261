import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RemoteError } from '../../src/ipc/jsonrpc/remote-error.js';
import { ERROR_CODES } from '../../src/ipc/jsonrpc/rpc-error.js';
import { CODE, MCP_CODE } from '../../src/shared/mcp/rpc-codes.js';
import { exitStatusOf } from '../../src/shared/report/exit-codes.js';
import { ROOT } from '../support/run.js';

/** What each type means. `raisedBy`: what raises it, if it is not the daemon. */
const MEANINGS: Record<
  string,
  string | { raisedBy: 'bridge' | 'command' | 'library' | 'problem'; is: string }
> = {
  ConfigError:
    'a config file is wrong as a whole, or a setting or a variable in it is; `problems` has each with its place',
  MCPConfigError: 'the entry of a server is wrong; `problems` has each with its place',
  ValidationError: {
    raisedBy: 'problem',
    is: "an element of `problems`: the 'server' of an entry is not an identifier",
  },
  MCPConnectionError: 'the server could not be reached, or the connection to it was lost',
  MCPTimeoutError:
    'no handshake or no reply in time; from the command: `--timeout` is over, or a daemon did not end in time',
  ServerCrashedError: 'the process of the server ended while the call was waiting or running',
  ServerUnavailableError:
    'no process can take the call now: the server is stopped, disabled, quarantined or between two tries, or the daemon is ending',
  MCPProtocolError:
    'the server answered with a JSON-RPC error (`rpc`), or with something that is not a reply',
  MCPToolError: 'the tool ran and reported an error',
  MCPToolNotFoundError: 'the server has no such tool',
  MCPPromptNotFoundError: 'the server has no such prompt',
  MCPResourceNotFoundError: 'the server has no such resource, or no server has it',
  ServerNotFoundError: 'no server has this name; from `toolherd remove`: the file has no such entry',
  ProfileNotFoundError: 'the config has no profile of this name, or has it no more',
  ResultTooLargeError: 'the reply is larger than `max_message_bytes`; only this call fails',
  OverloadedError: 'too many calls, bytes or connections are waiting already; nothing was queued',
  CancelledError: 'the caller cancelled the call, or enough other calls of `fleet/call_many` succeeded',
  TrustRequiredError:
    'the agent.yaml is not allowed, was revoked or has changed, or the definition of the tool differs from its pin',
  AuthRequiredError: 'the remote server requires an authorisation that is missing or was refused',
  MCPError: 'another failure of a call or a server, for example a token file that cannot be read or written',
  ToolherdError: 'another failure, for example a file that cannot be read or written',
  ParseError: 'the line is not JSON',
  InvalidRequestError: 'the message is not a JSON-RPC request',
  MethodNotFoundError: 'the daemon has no such method; it may be older than its client',
  InvalidParamsError: 'the params of the request are wrong',
  InternalError: 'a bug in toolherd; the log has the details',
  RemoteError: { raisedBy: 'library', is: 'an error of the daemon with another code and without a type' },
  FleetClosedError: { raisedBy: 'library', is: 'the fleet was used after it was closed' },
  DaemonNotRunningError: {
    raisedBy: 'bridge',
    is: 'no process listens on the socket, and none may be started',
  },
  DaemonUnreachableError: {
    raisedBy: 'bridge',
    is: 'a daemon has the socket, but does not accept the connection or does not answer',
  },
  ConnectionLostError: {
    raisedBy: 'bridge',
    is: 'the connection to the daemon ended before the reply; a request with `sent` may have run',
  },
  DaemonStartError: {
    raisedBy: 'command',
    is: 'the daemon ended before it served, or another one has the lock and does not serve',
  },
  AlreadyRunningError: { raisedBy: 'command', is: 'another daemon owns the socket, or is about to' },
  ReplaceError: {
    raisedBy: 'command',
    is: 'the running daemon did not release its socket to its successor (`up --replace`)',
  },
  SocketPathError: {
    raisedBy: 'command',
    is: 'the path of the socket is not safe, is too long, or has another file',
  },
  UsageError: { raisedBy: 'command', is: 'the command line is wrong' },
  NameTakenError: { raisedBy: 'command', is: 'the file has another server of this name; nothing is written' },
  DuplicateError: { raisedBy: 'command', is: 'the file already has this server; nothing is written' },
  PinChangedError: {
    raisedBy: 'command',
    is: 'a tool changed again before the shown definition was accepted',
  },
  RegistryUnreachableError: {
    raisedBy: 'command',
    is: 'the registry does not answer, or its answer cannot be used',
  },
  RegistryTimeoutError: { raisedBy: 'command', is: 'the registry did not answer within `--timeout`' },
  RegistryNotFoundError: { raisedBy: 'command', is: 'the registry has no such server or version' },
  RegistryRefusedError: {
    raisedBy: 'command',
    is: 'the registry has the server, but it cannot or must not be added',
  },
};

/** Names of errors of other programs, on which src decides. */
const FOREIGN = ['isError', 'IssuerMismatchError', 'RegistrationRejectedError', 'SyntaxError', 'TypeError'];

/** Classes without a type. Code within toolherd catches each of them, or it is sent as a JSON-RPC error. */
export const UNTYPED = [
  'EmbeddingError',
  'NotOpened',
  'RequestRefused',
  'RpcError',
  'TransportError',
  'YamlProblem',
];

const CODE_BY_TYPE = new Map(
  Object.values(CODE).map((code) => [new RemoteError({ code, message: '' }).type, code]),
);

/** One row for each type: name, meaning, JSON-RPC code, exit status. */
export function typeRows(): string[][] {
  return Object.entries(MEANINGS).map(([type, meaning]) => {
    const { raisedBy, is } = typeof meaning === 'string' ? { raisedBy: 'daemon', is: meaning } : meaning;
    const code =
      ERROR_CODES[type] ?? CODE_BY_TYPE.get(type) ?? (raisedBy === 'bridge' ? MCP_CODE.failed : '–');
    const status = raisedBy === 'library' || raisedBy === 'problem' ? '–' : exitStatusOf(type);
    return [`\`${type}\``, is, String(code), String(status)];
  });
}

export const describedTypes = () => Object.keys(MEANINGS).sort();

/** Every type that src names. */
export function typesInSource(): string[] {
  const found = sources().flatMap((text) => [...text.matchAll(/'(\w+Error)'/g)].map(([, type = '']) => type));
  return [...new Set(found)].filter((type) => !FOREIGN.includes(type)).sort();
}

/** The classes of errors that neither have a `type` nor inherit one. */
export function untypedClasses(): string[] {
  const classes = sources().flatMap((text) => [
    ...text.matchAll(/class (\w+) extends (\w+)[^{]*\{([\s\S]*?)(?:^\}|\}$)/gm),
  ]);
  const bases = new Map(classes.map(([, name = '', base = '']) => [name, base]));
  const typed = new Set(
    classes.filter(([, , , body = '']) => /readonly type\b/.test(body)).map(([, name]) => name),
  );
  const isTyped = (name: string | undefined): boolean =>
    name !== undefined && (typed.has(name) || isTyped(bases.get(name)));
  const isError = (name: string | undefined): boolean =>
    name !== undefined && (name === 'Error' || isError(bases.get(name)));
  return [...bases.keys()].filter((name) => isError(name) && !isTyped(name)).sort();
}

function sources(): string[] {
  const folder = join(ROOT, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}
