import { dirname, resolve } from 'node:path';
import { toTransport } from '../config/fields/transports.js';
import { isRelativePath } from '../config/parse/relative-path.js';
import {
  chooseOption,
  entryOf,
  type RegistryServer,
  type Requirement,
  shortNameOf,
} from '../registry/index.js';
import { dockerRunAt, readDockerRun } from '../shared/docker-run.js';
import { UsageError } from '../shared/report/usage-error.js';
import { stripUrl } from '../shared/secrets/hide-secrets.js';
import { looksSecret } from '../shared/secrets/secret-name.js';
import type { ConfigFile } from './config-target.js';
import type { InstallContext } from './context.js';
import { dockerHostAccess } from './docker-host-access.js';
import { findServer, noteOffline, parseName, registryOf } from './find-server.js';
import { plainSecrets } from './plain-secrets.js';

/** The words of `add`. */
export interface EntrySource {
  name: string;
  /** The words behind `--`. */
  command: readonly string[] | undefined;
  url: string | undefined;
  transport: string | undefined;
  /** `NAME=VALUE` */
  env: readonly string[];
  /** `NAME=VALUE` or `NAME: VALUE` */
  headers: readonly string[];
  cwd: string | undefined;
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
  context: InstallContext,
  target: ConfigFile,
  source: EntrySource,
): Promise<NewEntry> {
  const { name, command, url, transport } = source;
  const given = givenFields(context, source);
  if (command === undefined && url === undefined) return fromRegistry(context, source, given);
  if (command !== undefined && url !== undefined) {
    throw new UsageError('a server has a command or a url, not both', 'leave one of them out');
  }
  if (source.shortName !== undefined)
    throw new UsageError('--name is for servers of the registry', 'leave --name out: NAME is the short name');
  const fields =
    command === undefined
      ? remoteFields(String(url), transport)
      : commandFields(context, command, transport, dirname(target.file));
  checkFit(given, command === undefined);
  const entry = { name, ...fields, ...given };
  return { entry, registryName: undefined, version: undefined, needs: [], warnings: plainSecrets(entry) };
}

async function fromRegistry(
  context: InstallContext,
  source: EntrySource,
  given: GivenFields,
): Promise<NewEntry> {
  const { env = {}, headers, cwd } = given;
  const { name, version } = parseName(source.name);
  const found = await findServer(registryOf(context), name, version);
  noteOffline(context, found);
  const { server } = found;
  const short = source.shortName ?? shortNameOf(server.name);
  const option = chooseOption(server, short, registryTransport(source.transport));
  checkFit(given, option.transport !== 'stdio');
  const fields = {
    ...option.fields,
    ...(headers && { headers: withHeaders(option.fields.headers, headers) }),
  };
  const entry = { ...entryOf(server, { ...option, fields }, short, env), name: short, ...(cwd && { cwd }) };
  const needs = headers === undefined ? option.needs : option.needs.filter(({ name }) => isUsed(entry, name));
  const declared = needs.filter((need) => need.isSecret && isPlain(env[need.name]));
  const others = Object.entries(env).filter(([name]) => declared.every((need) => need.name !== name));
  return {
    entry,
    registryName: server.name,
    version: server.version,
    needs,
    warnings: [
      ...deprecation(server),
      ...hostAccess(option.fields),
      ...declared.map(inTheClear),
      ...plainSecrets({ ...given, name: short, env: Object.fromEntries(others) }),
    ],
  };
}

function deprecation({ name, status, statusMessage }: RegistryServer): string[] {
  if (status !== 'deprecated') return [];
  return [`${name} is deprecated${statusMessage === undefined ? '' : `: ${statusMessage}`}`];
}

/** A user should know of such rights before the container runs, not from the file afterwards. */
function hostAccess({ command, args = [] }: { command?: string; args?: string[] }): string[] {
  const words = dockerHostAccess(args, command ?? '');
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

/** The fields that the options of `add` write. */
interface GivenFields {
  env?: Record<string, string>;
  headers?: Record<string, string>;
  cwd?: string;
}

function givenFields(context: InstallContext, { env, headers, cwd }: EntrySource): GivenFields {
  return {
    ...(env.length === 0 ? {} : { env: parsePairs(env, '--env', /^([^=]+)=(.*)$/s) }),
    // `NAME: VALUE` is how curl and other clients have it
    ...(headers.length === 0
      ? {}
      : { headers: parsePairs(headers, '--header', /^([^=:\s]+)(?:=|:\s*)(.*)$/s) }),
    ...(cwd === undefined ? {} : { cwd: cwd.startsWith('${') ? cwd : resolve(context.cwd, cwd) }),
  };
}

function parsePairs(texts: readonly string[], option: string, form: RegExp): Record<string, string> {
  const pairs: Record<string, string> = Object.create(null);
  for (const text of texts) {
    const [, name, value = ''] = form.exec(text) ?? [];
    // the message does not repeat the pair, which may be a secret
    if (name === undefined)
      throw new UsageError(`${option} needs a name and a value`, `write ${option} NAME=VALUE`);
    pairs[name] = value;
  }
  return { ...pairs };
}

function checkFit({ headers, cwd }: GivenFields, isRemote: boolean): void {
  if (headers !== undefined && !isRemote)
    throw new UsageError('--header is for a remote server', 'for a command use --env NAME=VALUE');
  if (cwd !== undefined && isRemote)
    throw new UsageError('--cwd is for a server that runs a command', 'leave --cwd out');
}

/** Names of headers have no case. */
function withHeaders(
  published: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = Object.keys(own).map((name) => name.toLowerCase());
  const kept = Object.entries(published).filter(([name]) => !names.includes(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}

function isUsed(entry: Record<string, unknown>, variable: string): boolean {
  return JSON.stringify(entry).includes(`\${${variable}`);
}

function commandFields(
  context: InstallContext,
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
  const server = serverAmong(command, args) ?? command;
  return {
    description: `${command} ${server}`,
    server,
    transport: 'stdio',
    // absolute: an allowed './server' would be another program in every project
    command: isRelativePath(command) ? resolve(context.cwd, command) : command,
    ...(args.length === 0 ? {} : { args: args.map(whole) }),
  };
}

/** The package or program among the words. `list` shows it, so words that may hold a secret are skipped. */
function serverAmong(command: string, args: readonly string[]): string | undefined {
  const runAt = dockerRunAt(command, args);
  const words = runAt === -1 ? args : args.slice(runAt + 1 + readDockerRun(args.slice(runAt + 1)).imageAt);
  const word = words.find((arg, index) => {
    const before = words[index - 1] ?? '';
    if (arg.startsWith('-') || /^\w+=/.test(arg)) return false;
    return !(before.startsWith('-') && looksSecret(before));
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
