import { dirname, resolve } from 'node:path';
import {
  chooseOption,
  entryOf,
  type RegistryServer,
  type Requirement,
  shortNameOf,
} from '../../../registry/index.js';
import { stripUrl } from '../../../shared/hide-secrets.js';
import { looksSecret } from '../../../shared/secret-name.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { noteOffline, parseName, registryOf } from '../registry/lookup.js';
import { findServer } from '../registry/registry-server.js';
import type { ConfigFile } from './config-file.js';
import { dockerHostAccess } from './docker-host-access.js';

/** An entry that is to be written, and what is to be said of it. */
export interface NewEntry {
  entry: Record<string, unknown> & { name: string };
  registryName: string | undefined;
  version: string | undefined;
  needs: Requirement[];
  warnings: string[];
}

/** What the words of `add` mean: a server of the registry, a command behind `--`, or a url. */
export async function newEntry(call: CommandContext, target: ConfigFile): Promise<NewEntry> {
  const [name] = call.args;
  const { url } = call.flags;
  if (name === undefined)
    throw new UsageError('name a server', 'see "toolherd search", or "toolherd help add"');
  const env = parseEnv(call.flags.env);
  if (call.command === undefined && url === undefined) return fromRegistry(call, name, env);
  if (call.command !== undefined && url !== undefined) {
    throw new UsageError('a server has a command or a url, not both', 'leave one of them out');
  }
  if (call.flags.name !== undefined)
    throw new UsageError('--name is for servers of the registry', 'NAME is the name');
  const fields =
    call.command === undefined
      ? remoteFields(call, String(url))
      : commandFields(call, call.command, dirname(target.file));
  const entry = { name, ...fields, ...(Object.keys(env).length === 0 ? {} : { env }) };
  return { entry, registryName: undefined, version: undefined, needs: [], warnings: [] };
}

async function fromRegistry(
  call: CommandContext,
  given: string,
  env: Record<string, string>,
): Promise<NewEntry> {
  const { name, version } = parseName(given);
  const found = await findServer(registryOf(call), name, version);
  noteOffline(call, found);
  const { server } = found;
  const short = typeof call.flags.name === 'string' ? call.flags.name : shortNameOf(server.name);
  const option = chooseOption(server, short, parseTransport(call.flags.transport));
  const secrets = option.needs.filter((need) => need.isSecret && isPlain(env[need.name]));
  return {
    entry: { ...entryOf(server, option, short, env), name: short },
    registryName: server.name,
    version: server.version,
    needs: option.needs,
    warnings: [...deprecation(server), ...reach(option.fields), ...secrets.map(inTheClear)],
  };
}

function deprecation({ name, status, statusMessage }: RegistryServer): string[] {
  if (status !== 'deprecated') return [];
  return [`${name} is deprecated${statusMessage === undefined ? '' : `: ${statusMessage}`}`];
}

/** What a stranger wants of this machine is not found out by reading the file afterwards. */
function reach({ command, args = [] }: { command?: string; args?: string[] }): string[] {
  const words = command === 'docker' ? dockerHostAccess(args) : [];
  return words.length === 0 ? [] : [`its container gets at this machine: ${words.join(', ')}`];
}

const isPlain = (value: string | undefined) => value !== undefined && !value.includes('${');

function inTheClear({ name }: Requirement): string {
  return `${name} is a secret, and would be safer outside of the file: --env '${name}=\${${name}}'`;
}

function parseTransport(value: unknown): 'stdio' | 'http' | 'sse' | undefined {
  if (value === undefined || value === 'stdio' || value === 'http' || value === 'sse') return value;
  if (value === 'streamable-http' || value === 'streamable_http') return 'http';
  throw new UsageError(`the registry has no servers over '${value}'`, 'use --transport stdio, http or sse');
}

function parseEnv(values: unknown): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (const pair of Array.isArray(values) ? values : []) {
    const sign = String(pair).indexOf('=');
    // what stands there may be a secret
    if (sign <= 0) throw new UsageError('--env needs a name and a value', 'write --env NAME=VALUE');
    env[String(pair).slice(0, sign)] = String(pair).slice(sign + 1);
  }
  return { ...env };
}

function commandFields(
  call: CommandContext,
  [command, ...args]: readonly string[],
  folder: string,
): Record<string, unknown> {
  if (command === undefined) throw new UsageError('there is no command behind --', 'write -- COMMAND ARGS…');
  if (![undefined, 'stdio'].includes(call.flags.transport as string | undefined)) {
    throw new UsageError('a command is spoken to over stdio', 'leave --transport out');
  }
  // The words were written for this folder, and are read in that of the file.
  const isElsewhere = resolve(call.cwd) !== folder;
  const whole = (arg: string) => (isElsewhere && /^\.{1,2}\//.test(arg) ? resolve(call.cwd, arg) : arg);
  const server = serverAmong(args) ?? command;
  return {
    description: `${command} ${server}`,
    server,
    transport: 'stdio',
    command: whole(command),
    ...(args.length === 0 ? {} : { args: args.map(whole) }),
  };
}

/** Flags of docker with a word behind them that is not the image. */
const TAKES_WORD =
  /^(-[evpuwlh]|--(env|env-file|volume|mount|publish|name|network|user|workdir|label|entrypoint|platform|add-host))$/;

/** The package or program among the words. `list` shows it: what may hold a secret is passed over. */
function serverAmong(args: readonly string[]): string | undefined {
  const word = args.find((arg, index) => {
    const before = args[index - 1] ?? '';
    if (arg.startsWith('-') || arg === 'run' || /^\w+=/.test(arg)) return false;
    return !TAKES_WORD.test(before) && !(before.startsWith('-') && looksSecret(before));
  });
  return word === undefined ? undefined : stripUrl(word);
}

function remoteFields({ flags: { transport } }: CommandContext, url: string): Record<string, unknown> {
  const isSocket = /^wss?:/i.test(url);
  const server = stripUrl(url);
  return {
    description: `Remote server at ${server}`,
    server,
    transport: transport ?? (isSocket ? 'websocket' : 'http'),
    url,
  };
}
