import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CLIENTS, type Client, clientsNamed, type Scope } from '../../../integrations/index.js';
import { didYouMean } from '../../../shared/text/near-miss.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { machineOf } from '../../core/machine.js';

export const CLIENT_NAMES: readonly string[] = CLIENTS.map((client) => client.name);

/** The argument of attach and detach. No choices: some clients have a second name. */
export const CLIENT_ARGUMENT = {
  complete: CLIENT_NAMES,
  hint: `there are: ${CLIENT_NAMES.join(', ')}`,
} as const;

export const SCOPE_OPTION = {
  type: 'string',
  choices: ['user', 'project'],
  default: 'user',
  about: "the user's config (default), or the one in this project",
} as const;

/** The one client that a command works on. */
export function namedClient(name: string, command: string): Client {
  const [client, other] = clientsMeant(name);
  if (client === undefined) throw new Error('no client');
  if (other === undefined) return client;
  throw new UsageError(
    `'${name}' is ${client.title} or ${other.title}`,
    `toolherd ${command} ${client.name}, or toolherd ${command} ${other.name}`,
  );
}

/** Throws a UsageError that suggests the nearest name. */
export function clientsMeant(name: string): readonly Client[] {
  const clients = clientsNamed(name);
  if (clients.length > 0) return clients;
  throw new UsageError(`unknown client '${name}'`, didYouMean(name, CLIENT_NAMES) || CLIENT_ARGUMENT.hint);
}

/** The config file of a client: the one that `isMeant`, else one that exists or whose folder does, else the first. */
export function clientFile(
  context: CommandContext,
  client: Client,
  scope: Scope,
  isMeant: (file: string) => boolean = existsSync,
): string {
  const files =
    scope === 'user'
      ? client.user(machineOf(context))
      : client.project.map((path) => join(context.cwd, path));
  const [first] = files;
  if (first === undefined) {
    throw new UsageError(`${client.title} has no project config`, 'leave out --scope project');
  }
  return (
    files.find(isMeant) ??
    files.find((file) => existsSync(file)) ??
    // of several programs, one that is installed
    files.find((file) => existsSync(dirname(file))) ??
    first
  );
}
