import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, type Client, clientsNamed, type Machine, type Scope } from '../../../integrations/index.js';
import { didYouMean } from '../../../shared/near-miss.js';
import { type CommandContext, UsageError } from '../../core/command.js';

export function machineOf({ environment, userHome }: CommandContext): Machine {
  return { platform: process.platform, home: userHome, environment };
}

export function scopeOf({ flags }: CommandContext): Scope {
  const scope = flags.scope ?? 'user';
  if (scope === 'user' || scope === 'project') return scope;
  throw new UsageError(`unknown scope '${scope}'`, 'write --scope user or --scope project');
}

/** The one client that a verb works on. */
export function namedClient(call: CommandContext, verb: string): Client {
  const [name] = call.args;
  if (name === undefined) throw new UsageError('name a client', `there are: ${names()}`);
  const [client, other] = clientsMeant(name);
  if (client === undefined) throw new Error('no client');
  if (other === undefined) return client;
  throw new UsageError(
    `'${name}' is ${client.title} or ${other.title}`,
    `toolherd ${verb} ${client.name}, or toolherd ${verb} ${other.name}`,
  );
}

/** Throws a UsageError that names the near miss. */
export function clientsMeant(name: string): readonly Client[] {
  const clients = clientsNamed(name);
  if (clients.length > 0) return clients;
  const near = didYouMean(
    name,
    CLIENTS.map((client) => client.name),
  );
  throw new UsageError(`unknown client '${name}'`, near === '' ? `there are: ${names()}` : near);
}

/** The file of a client that is meant: one that is there before one that could be. */
export function clientFile(
  call: CommandContext,
  client: Client,
  scope: Scope,
  isMeant: (file: string) => boolean = existsSync,
): string {
  const files =
    scope === 'user' ? client.user(machineOf(call)) : client.project.map((path) => join(call.cwd, path));
  const [first] = files;
  if (first === undefined) {
    throw new UsageError(`${client.title} has no config of a project`, 'leave out --scope project');
  }
  return files.find(isMeant) ?? files.find((file) => existsSync(file)) ?? first;
}

function names(): string {
  return CLIENTS.map((client) => client.name).join(', ');
}
