import { resolve } from 'node:path';
import { attachClient, formatEntry, type Program, type Scope } from '../../../integrations/index.js';
import { ToolherdError } from '../../../shared/errors.js';
import type { Command, CommandContext } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { ownCommand } from '../../daemon/own-command.js';
import { clientFile, namedClient, scopeOf } from './select-client.js';

export const verb: Command = {
  usage: 'attach CLIENT [--scope user|project] [--server NAME] [--dry-run]',
  about: `Writes the one entry into a client's config that points it at the herd: it runs 'toolherd bridge'. Everything
else in the file stays as it is; a copy of it is kept beside it.`,
  help: `Clients: vscode, claude-desktop, claude-code, cursor, codex, gemini, windsurf, zed, cline, opencode.
In the user's file the entry has whole paths, since programs with windows have another PATH than a shell; in a project's
file, which others share, it is 'toolherd bridge'.

Examples:
  toolherd attach claude-desktop
  toolherd attach vscode --scope project      into .vscode/mcp.json here
  toolherd attach codex --dry-run             shows the entry, writes nothing
  toolherd attach cursor --server github      one server, with its own names for its tools

Exit status: 0 attached (or it was already), 1 the file cannot be edited.`,
  options: { scope: { type: 'string' }, server: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { flags, output } = call;
    const client = namedClient(call, 'attach');
    if (client.toClientEntry === undefined) {
      throw new ToolherdError(`${client.title} cannot be attached`, {
        why: 'it runs npx, uvx and docker, and no other program',
        fix: `take over its servers: toolherd import --from ${client.name}`,
      });
    }
    const scope = scopeOf(call);
    const file = clientFile(call, client, scope);
    const program = bridge(call, scope);
    const dryRun = flags['dry-run'] === true;
    const { change, backup } = await attachClient(client, file, program, { dryRun });
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
      if (change === 'replaced') output.note('in the place of the entry of that name that was there');
      if (backup !== undefined) output.note(`before: ${backup}`);
      output.note(`next: start ${client.title} anew; take it back with: toolherd detach ${client.name}`);
    }
    return EXIT.ok;
  },
};

/** What the client is to run. A file that others share says nothing of this machine. */
function bridge(call: CommandContext, scope: Scope): Program {
  const { flags, cwd, environment } = call;
  const isShared = scope === 'project';
  const path = (name: string) => {
    const value = flags[name];
    return typeof value === 'string' ? [`--${name}`, isShared ? value : resolve(cwd, value)] : [];
  };
  const server = typeof flags.server === 'string' ? ['--server', flags.server] : [];
  const args = ['bridge', ...path('agent'), ...server, ...path('config'), ...path('socket')];
  if (isShared) return { command: 'toolherd', args, env: {} };
  const [node, main] = ownCommand(call);
  // A herd in a place of its own is found again.
  const env = ['TOOLHERD_HOME', 'TOOLHERD_SOCKET'].flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, resolve(cwd, value)]];
  });
  return { command: node, args: [main, ...args], env: Object.fromEntries(env) };
}
