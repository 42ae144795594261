import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  AttachRecord,
  attachClient,
  CLIENTS,
  type Client,
  formatEntry,
  type Program,
  type Scope,
} from '../../../integrations/index.js';
import { ToolherdError } from '../../../shared/errors.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { didYouMean } from '../../../shared/text/near-miss.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { configuredProfiles, knownServers } from '../../core/known-servers.js';
import { npxWarning, ownCommand } from '../../daemon/own-command.js';
import { PROFILE_OPTION } from './profile-option.js';
import { CLIENT_ARGUMENT, clientFile, namedClient, SCOPE_OPTION } from './select-client.js';
import { SEPARATOR_OPTION, SURFACE_OPTION } from './surface-options.js';

const ATTACHABLE = CLIENTS.filter(({ toClientEntry }) => toClientEntry !== undefined).map(({ name }) => name);

export const command = defineCommand({
  name: 'attach',
  summary: "Writes one entry into a client's config, which connects it to the daemon.",
  details: `The entry is called "toolherd" and runs "toolherd bridge".
The rest of the file stays as it is. A backup is kept beside the file.
In the user's file the entry has absolute paths, because graphical programs have
another PATH than a shell. In a project's file, which others share, it is
"toolherd bridge".
--profile gives the client a part of the herd. With --surface search it lists
four tools that find and call all others; by default it does so above 20,000
tokens of definitions. "toolherd bridge --help" explains both.
Clients: ${ATTACHABLE.join(', ')}.`,
  args: { client: CLIENT_ARGUMENT },
  options: {
    scope: SCOPE_OPTION,
    server: {
      type: 'string',
      label: 'NAME',
      complete: 'server',
      about: 'one server, under its own tool names',
    },
    profile: PROFILE_OPTION,
    separator: SEPARATOR_OPTION,
    surface: SURFACE_OPTION,
    'dry-run': { type: 'boolean', about: 'show the entry, write nothing' },
  },
  examples: [
    'toolherd attach claude-desktop',
    ['toolherd attach vscode --scope project', '.vscode/mcp.json in this folder'],
    'toolherd attach codex --dry-run',
    'toolherd attach cursor --server github',
    'toolherd attach cursor --profile review',
    ['toolherd attach cursor --separator _', 'for a client that refuses server__tool'],
    'toolherd attach amp --surface search',
  ],
  exits: { ok: 'attached, now or before', failed: 'the file cannot be edited' },
  async run(context) {
    const { args, options, output } = context;
    const client = namedClient(args.client, 'attach');
    if (client.toClientEntry === undefined) {
      throw new ToolherdError(`${client.title} cannot be attached`, {
        why: 'it runs npx, uvx and docker, and no other program',
        fix: `take over its servers: toolherd import --from ${client.name}`,
      });
    }
    const { scope } = options;
    const file = clientFile(context, client, scope);
    const program = bridgeProgram(context, scope, { ...options, separator: separatorFor(client, options) });
    const dryRun = options['dry-run'];
    const record = new AttachRecord(context.paths.attachedFile);
    const { change, backup } = await attachClient(client, file, program, { dryRun, record });
    const entry = client.toClientEntry(program);
    output.json({
      ok: true,
      client: client.name,
      scope,
      file,
      change,
      backup: backup ?? null,
      dry_run: dryRun,
      entry,
    });
    if (change === 'unchanged') output.print(`already attached: ${client.title} (${file})`);
    else if (dryRun) output.print(`would write to ${file}:\n${formatEntry(client, entry)}`);
    else {
      output.print(`attached: ${client.title} (${file})`);
      if (change === 'replaced') output.note('replaced the existing entry of that name');
      if (backup !== undefined) output.note(`backup: ${backup}`);
      output.note(`next: ${client.next[scope] ?? client.next.user}`);
      const option = scope === 'user' ? '' : ` --scope ${scope}`;
      output.note(`undo with: toolherd detach ${client.name}${option}`);
    }
    const doubts = [
      await unknownServerWarning(context, options.server),
      missingFileWarning(context, 'config'),
      missingFileWarning(context, 'agent'),
      await unknownProfileWarning(context, options.profile),
      scope === 'user' ? npxWarning(program.args[0], `toolherd attach ${client.name}`) : undefined,
    ];
    for (const doubt of doubts) if (doubt !== undefined) output.note(doubt);
    return EXIT.ok;
  },
});

/** It is written nevertheless: the server may be added later, or by an agent.yaml that is not here. */
async function unknownServerWarning(
  context: CommandContext,
  server: string | undefined,
): Promise<string | undefined> {
  if (server === undefined) return undefined;
  const known = await knownServers(context);
  if (known.has(server)) return undefined;
  const near = didYouMean(server, known) || 'see: toolherd list';
  return `warning: no server is called '${server}', so the client gets no tools until there is one; ${near}`;
}

/** The entry is written nevertheless: the file may be made later. */
function missingFileWarning(
  { globals, cwd }: CommandContext,
  option: 'agent' | 'config',
): string | undefined {
  const file = globals[option];
  if (file === undefined || existsSync(resolve(cwd, file))) return undefined;
  return `warning: --${option} ${resolve(cwd, file)} does not exist, so the client gets no tools until it does`;
}

/** It is written nevertheless, as an unknown server is. */
async function unknownProfileWarning(
  context: CommandContext,
  profile: string | undefined,
): Promise<string | undefined> {
  if (profile === undefined) return undefined;
  const known = await configuredProfiles(context);
  if (known.includes(profile)) return undefined;
  const near = didYouMean(profile, known) || "add it to 'profiles' of the config";
  return `warning: no profile is called '${profile}', so the client cannot connect until there is one; ${near}`;
}

interface BridgeView {
  server: string | undefined;
  profile: string | undefined;
  separator: string | undefined;
  surface: string | undefined;
}

/** The names of a single server have no separator. */
function separatorFor(
  client: Client,
  { server, separator }: Pick<BridgeView, 'server' | 'separator'>,
): string | undefined {
  return separator ?? (server === undefined ? client.separator : undefined);
}

/** What the client is to run. A shared file has no paths of this machine. */
function bridgeProgram(context: CommandContext, scope: Scope, view: BridgeView): Program {
  const { globals, cwd, environment } = context;
  const isShared = scope === 'project';
  const path = (name: 'agent' | 'config' | 'socket') => {
    const value = globals[name];
    return value === undefined ? [] : [`--${name}`, isShared ? value : resolve(cwd, value)];
  };
  const server = view.server === undefined ? [] : ['--server', view.server];
  const separator = view.separator === undefined ? [] : ['--separator', view.separator];
  const profile = view.profile === undefined ? [] : ['--profile', view.profile];
  const surface = view.surface === undefined ? [] : ['--surface', view.surface];
  const shown = [...server, ...profile, ...separator, ...surface];
  const args = ['bridge', ...path('agent'), ...shown, ...path('config'), ...path('socket')];
  if (isShared) return { command: 'toolherd', args, env: {} };
  const [node, main] = ownCommand(context);
  // so that the client finds a daemon with another home or socket
  const env = ['TOOLHERD_HOME', 'TOOLHERD_SOCKET'].flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, resolve(cwd, value)]];
  });
  return { command: node, args: [main, ...args], env: Object.fromEntries(env) };
}
