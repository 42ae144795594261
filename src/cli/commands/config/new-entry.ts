import { dirname, resolve } from 'node:path';
import { toTransport } from '../../../config/fields/transports.js';
import { isRelativePath } from '../../../config/parse/relative-path.js';
import {
  chooseOption,
  entryOf,
  type RegistryServer,
  type Requirement,
  shortNameOf,
} from '../../../registry/index.js';
import { stripUrl } from '../../../shared/secrets/hide-secrets.js';
import { looksSecret } from '../../../shared/secrets/secret-name.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { findServer, noteOffline, parseName, registryOf } from '../registry/find-server.js';
import type { ConfigFile } from './config-target.js';

/** The words of `add`. */
export interface EntrySource {
  name: string;
  /** The words behind `--`. */
  command: readonly string[] | undefined;
  url: string | undefined;
  transport: string | undefined;
  /** `NAME=VALUE` */
  env: readonly string[];
  shortName: string | undefined;
}

/** An entry to be written, with what the user should know about it. */
export interface NewEntry {
  entry: Record<string, unknown> & { name: string };
  registryName: string | undefined;
  version: string | undefined;
  needs: Requirement[];
  warnings: string[];
}

/** The entry that `add` means: a server of the registry, a command behind `--`, or a URL. */
export async function newEntry(
  context: CommandContext,
  target: ConfigFile,
  source: EntrySource,
): Promise<NewEntry> {
  const { name, command, url, transport } = source;
  const env = parseEnv(source.env);
  if (command === undefined && url === undefined) return fromRegistry(context, source, env);
  if (command !== undefined && url !== undefined) {
    throw new UsageError('a server has a command or a url, not both', 'leave one of them out');
  }
  if (source.shortName !== undefined)
    throw new UsageError('--name is for servers of the registry', 'leave --name out: NAME is the short name');
  const fields =
    command === undefined
      ? remoteFields(String(url), transport)
      : commandFields(context, command, transport, dirname(target.file));
  const entry = { name, ...fields, ...(Object.keys(env).length === 0 ? {} : { env }) };
  return { entry, registryName: undefined, version: undefined, needs: [], warnings: [] };
}

async function fromRegistry(
  context: CommandContext,
  source: EntrySource,
  env: Record<string, string>,
): Promise<NewEntry> {
  const { name, version } = parseName(source.name);
  const found = await findServer(registryOf(context), name, version);
  noteOffline(context, found);
  const { server } = found;
  const short = source.shortName ?? shortNameOf(server.name);
  const option = chooseOption(server, short, registryTransport(source.transport));
  const secrets = option.needs.filter((need) => need.isSecret && isPlain(env[need.name]));
  return {
    entry: { ...entryOf(server, option, short, env), name: short },
    registryName: server.name,
    version: server.version,
    needs: option.needs,
    warnings: [...deprecation(server), ...hostAccess(option.fields), ...secrets.map(inTheClear)],
  };
}

function deprecation({ name, status, statusMessage }: RegistryServer): string[] {
  if (status !== 'deprecated') return [];
  return [`${name} is deprecated${statusMessage === undefined ? '' : `: ${statusMessage}`}`];
}

/** A user should know of such rights before the container runs, not from the file afterwards. */
function hostAccess({ command, args = [] }: { command?: string; args?: string[] }): string[] {
  const words = command === 'docker' ? dockerHostAccess(args) : [];
  return words.length === 0 ? [] : [`its container gets access to the host: ${words.join(', ')}`];
}

const isPlain = (value: string | undefined) => value !== undefined && !value.includes('${');

function inTheClear({ name }: Requirement): string {
  return `${name} is a secret, and would be safer outside of the file: --env '${name}=\${${name}}'`;
}

function registryTransport(name: string | undefined): 'stdio' | 'http' | 'sse' | undefined {
  const transport = toTransport(name);
  if (transport !== 'websocket') return transport;
  throw new UsageError(`the registry has no servers over '${name}'`, 'use --transport stdio, http or sse');
}

function parseEnv(pairs: readonly string[]): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (const pair of pairs) {
    const sign = pair.indexOf('=');
    // the message does not repeat the pair, which may be a secret
    if (sign <= 0) throw new UsageError('--env needs a name and a value', 'write --env NAME=VALUE');
    env[pair.slice(0, sign)] = pair.slice(sign + 1);
  }
  return { ...env };
}

function commandFields(
  context: CommandContext,
  [command, ...args]: readonly string[],
  transport: string | undefined,
  folder: string,
): Record<string, unknown> {
  if (command === undefined) throw new UsageError('no command after --', 'write -- COMMAND ARGS…');
  if (![undefined, 'stdio'].includes(transport)) {
    throw new UsageError('a command uses stdio', 'leave --transport out');
  }
  // relative paths are meant from this folder, and would be read from that of the file
  const isElsewhere = resolve(context.cwd) !== folder;
  const whole = (arg: string) => (isElsewhere && isRelativePath(arg) ? resolve(context.cwd, arg) : arg);
  const server = serverAmong(args) ?? command;
  return {
    description: `${command} ${server}`,
    server,
    transport: 'stdio',
    command: whole(command),
    ...(args.length === 0 ? {} : { args: args.map(whole) }),
  };
}

/** Options of docker with a value, which is not the image. */
const TAKES_WORD =
  /^(-[evpuwlh]|--(env|env-file|volume|mount|publish|name|network|user|workdir|label|entrypoint|platform|add-host))$/;

/** The package or program among the words. `list` shows it, so words that may hold a secret are skipped. */
function serverAmong(args: readonly string[]): string | undefined {
  const word = args.find((arg, index) => {
    const before = args[index - 1] ?? '';
    if (arg.startsWith('-') || arg === 'run' || /^\w+=/.test(arg)) return false;
    return !TAKES_WORD.test(before) && !(before.startsWith('-') && looksSecret(before));
  });
  return word === undefined ? undefined : stripUrl(word);
}

function remoteFields(url: string, transport: string | undefined): Record<string, unknown> {
  const isSocket = /^wss?:/i.test(url);
  const server = stripUrl(url);
  return {
    description: `Remote server at ${server}`,
    server,
    transport: transport ?? (isSocket ? 'websocket' : 'http'),
    url,
  };
}

const HOST = /^--(pid|ipc|uts|userns|net|network)=host$/;
const POWER = /^--(privileged(=true)?$|(cap-add|device|security-opt)=)/;
const MOUNT = /^(-v|--volume)=(\/|~|\$HOME|\.)|^--mount=(?=.*\bbind\b)(?=.*\b(source|src)=[/~])/;

/** The words of a `docker run` that give the container access to the host. A folder that the user names does not count. */
export function dockerHostAccess(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isPair = !arg.includes('=') && args[index + 1] !== undefined;
    const pair = isPair ? `${arg}=${args[index + 1]}` : arg;
    if (/^-v[/~]/.test(arg) || POWER.test(arg)) return [arg];
    if (![HOST, POWER, MOUNT].some((pattern) => pattern.test(pair))) return [];
    return [isPair ? `${arg} ${args[index + 1]}` : arg];
  });
}
