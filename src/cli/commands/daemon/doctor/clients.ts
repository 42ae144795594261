import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { FleetStatus } from '../../../../fleet/fleet.js';
import type { Hello } from '../../../../fleet/hello.js';
import { CLIENTS, type FoundServer, findServers, isOurBridge } from '../../../../integrations/index.js';
import { shellWord } from '../../../../shared/text/shell-word.js';
import type { CommandContext } from '../../../core/command.js';
import { configuredProfiles, knownServers } from '../../../core/known-servers.js';
import { machineOf } from '../../../core/machine.js';
import { connectTo, socketOf } from '../../../daemon/connect.js';
import { error, type Finding, ok, warn } from './finding.js';

/** The entries of attached clients: whether each leads to a program, a config, a server and a profile that exist. */
export async function checkClients(
  context: CommandContext,
  status: FleetStatus | undefined,
): Promise<Finding[]> {
  const ofUser = attached(context, 'user');
  const files = new Set(ofUser.map(({ file }) => file));
  // in the home folder the files of a project are those of the user
  const ofProject = attached(context, 'project').filter(({ file }) => !files.has(file));
  const found = [...ofUser, ...ofProject];
  if (found.length === 0) return [];
  const known = { servers: await knownServers(context), profiles: await configuredProfiles(context) };
  return Promise.all(found.map((one) => checkEntry(context, one, known, status)));
}

/** What the config files and the daemon have. */
interface KnownNames {
  servers: ReadonlySet<string>;
  profiles: readonly string[];
}

/** `scope`: as `toolherd attach` has it. */
interface Attached extends FoundServer {
  scope: 'user' | 'project';
}

function attached(context: CommandContext, scope: Attached['scope']): Attached[] {
  const { servers } = findServers({
    clients: CLIENTS,
    scope,
    machine: machineOf(context),
    folder: context.cwd,
    targetFolder: context.cwd,
  });
  return servers.filter(isOurBridge).map((server) => ({ ...server, scope }));
}

async function checkEntry(
  context: CommandContext,
  one: Attached,
  { servers, profiles }: KnownNames,
  status: FleetStatus | undefined,
): Promise<Finding> {
  const { client, file, path } = one;
  const { program, script, bridge, home } = partsOf(one);
  const where = `${client.title}: ${path} in ${file}`;
  const attach = ['toolherd', 'attach', client.name, ...(one.scope === 'project' ? ['--scope project'] : [])];
  const again = (args: readonly string[]) => [...attach, ...args.map(shellWord)].join(' ');
  const gone = [program, script].find((word) => word !== undefined && !isThere(context, word));
  if (gone !== undefined)
    return error('client', `${where} starts ${gone}, which does not exist`, again(bridge));
  const named = ['--agent', '--config'].flatMap((option) => optionOf(bridge, option) ?? []);
  const lost = named.find((name) => !existsSync(resolve(context.cwd, name)));
  if (lost !== undefined)
    return error('client', `${where} names ${lost}, which does not exist`, `create it, or: ${again([])}`);
  const server = optionOf(bridge, '--server');
  const isHere = named.length === 0 && (home === undefined || home === context.environment.TOOLHERD_HOME);
  if (server !== undefined && isHere && !servers.has(server))
    return warn(
      'client',
      `${where} names the server '${server}', which no config has`,
      `toolherd add ${shellWord(server)}, or for the whole herd: ${again([])}`,
    );
  const profile = optionOf(bridge, '--profile');
  if (profile !== undefined && isHere && !profiles.includes(profile))
    return warn(
      'client',
      `${where} names the profile '${profile}', which no config has`,
      `add it to 'profiles' of the config, or for the whole herd: ${again(withoutOption(bridge, '--profile'))}`,
    );
  const seen = status === undefined || profile === undefined ? status : await statusWithin(context, profile);
  const tokens = isHere ? tokensOver(seen, optionOf(bridge, '--surface'), server) : undefined;
  if (tokens !== undefined)
    return warn(
      'client',
      `${where} lists all tools: about ${tokens} tokens before each task`,
      again([...withoutOption(bridge, '--surface'), '--surface', 'auto']),
    );
  return ok('client', where);
}

/** The status as a client with this profile gets it; undefined where the daemon does not have it. */
async function statusWithin(context: CommandContext, profile: string): Promise<FleetStatus | undefined> {
  try {
    const { peer, first, fleet, close } = await connectTo(socketOf(context));
    try {
      const hello = (await first(peer.request('fleet/hello', { profile }))) as Hello;
      return hello.profile === profile ? await fleet.status() : undefined;
    } finally {
      close();
    }
  } catch {
    // the findings about the daemon say what is wrong
    return undefined;
  }
}

/** What the list of tools costs a client that gets all of it, above the threshold; undefined where it is below. */
function tokensOver(
  status: FleetStatus | undefined,
  option: string | undefined,
  server: string | undefined,
): number | undefined {
  const surface = status?.daemon.surface;
  if (status === undefined || surface === undefined || (option ?? surface.mode) !== 'all') return undefined;
  const seen = status.servers.filter(
    ({ name, other_view }) => other_view !== true && (server === undefined || server === name),
  );
  const tokens = seen.reduce((sum, { tools_tokens = 0 }) => sum + tools_tokens, 0);
  return tokens > surface.above_tokens ? tokens : undefined;
}

function withoutOption(args: readonly string[], option: string): string[] {
  const at = args.indexOf(option);
  return at === -1 ? [...args] : [...args.slice(0, at), ...args.slice(at + 2)];
}

/** The words of an entry: the program, the script of toolherd where Node is the program, and what follows `bridge`. */
function partsOf({ entry }: FoundServer) {
  const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const at = args.indexOf('bridge');
  const script = args.slice(0, at).find((word) => isAbsolute(word));
  const { TOOLHERD_HOME: home } = (entry.env ?? {}) as Record<string, string | undefined>;
  return { program: String(entry.command), script, bridge: args.slice(at + 1), home };
}

function optionOf(args: readonly string[], option: string): string | undefined {
  const at = args.indexOf(option);
  return at === -1 ? undefined : args[at + 1];
}

/** A name without a slash is searched in PATH, as the client does, if with its own PATH. */
function isThere({ environment }: CommandContext, word: string): boolean {
  if (isAbsolute(word)) return existsSync(word);
  if (word.includes('/')) return true;
  return (environment.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, word)));
}
