import { dirname } from 'node:path';
import { CLIENTS, type Client, type Findings, findServers } from '../../../integrations/index.js';
import { didYouMean } from '../../../shared/near-miss.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { clientsMeant, machineOf, scopeOf } from '../agents/select-client.js';
import { type ConfigFile, globalFile, localFile, settingsOf } from '../config/config-file.js';
import { brokenText, plannedJson, planTable, remarksOf } from './describe.js';
import { type Planned, planImport } from './plan.js';
import { allowCommands, checkName, writeOne } from './write.js';

export const verb: Command = {
  usage: 'import [NAME…] [--from CLIENT,…] [--scope user|project] [--dry-run] [--yes] [-g | --agent FILE]',
  about: `Takes over the MCP servers that other programs have in their configs: finds them, shows them, asks, and writes them
into the global config (or an agent.yaml). The programs keep theirs; see "toolherd attach".`,
  help: `Clients: vscode, claude-desktop, claude-code, cursor, codex, gemini, windsurf, zed, cline, opencode, holodeck.
Variables stay variables. A secret that stands in the clear is not copied: it becomes \${NAME}, and you are told which variable to
set and where its value stands; until then the server is written with 'enabled: false'. A field that has no home here is named.
A command besides npx, uvx and docker needs your yes (or --allow-commands): it is added to security.allowed_commands.

Examples:
  toolherd import --dry-run                     what is there
  toolherd import --from cursor,codex
  toolherd import github --from zed --name github-work
  toolherd import --scope project --agent agent.yaml --yes    the files of the project in this folder

Exit status: 0 ok, 1 something could not be read or written, 2 nobody to ask and no --yes.`,
  options: {
    from: { type: 'string' },
    scope: { type: 'string' },
    'dry-run': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    'allow-commands': { type: 'boolean' },
    global: { type: 'boolean', short: 'g' },
    name: { type: 'string' },
  },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const { flags, output } = call;
    const target = targetOf(call);
    const findings = find(call, target);
    for (const broken of findings.broken) output.note(brokenText(broken));
    const plan = planFor(call, findings);
    for (const one of plan.filter(isNew))
      await (one.command === undefined ? writeOne(call, target, one, true) : checkName(target, one));
    const dryRun = flags['dry-run'] === true;
    if (!output.isJson) show(call, plan, findings);
    if (!dryRun && plan.some(isNew)) {
      await write(call, target, await chosen(call, plan.filter(isNew)));
      const added = plan.filter(({ result }) => result === 'added');
      if (added.some(({ unset }) => unset.length === 0)) await notifyConfigChange(call);
      for (const { entry, why } of plan.filter(({ result }) => result === 'failed'))
        output.note(`${entry.name} was not written: ${why}`);
      output.print(
        `imported: ${added.length} ${added.length === 1 ? 'server' : 'servers'} to ${target.file}`,
      );
    }
    const isWhole = findings.broken.length === 0 && plan.every(({ result }) => result !== 'failed');
    const broken = findings.broken.map(({ client, ...rest }) => ({ from: client.name, ...rest }));
    output.json({ ok: isWhole, dry_run: dryRun, file: target.file, servers: plan.map(plannedJson), broken });
    return isWhole ? EXIT.ok : EXIT.failed;
  },
};

const isNew = ({ result }: Planned) => result === 'new';

/** The global config, unless an agent file is named. */
function targetOf(call: CommandContext): ConfigFile {
  if (call.flags.agent === undefined) return globalFile(call);
  if (call.flags.global === true)
    throw new UsageError('-g and --agent name different files', 'use one of them');
  return localFile(call) ?? globalFile(call);
}

function find(call: CommandContext, target: ConfigFile): Findings {
  return findServers({
    clients: clientsFrom(call.flags.from),
    scope: scopeOf(call),
    machine: machineOf(call),
    folder: call.cwd,
    targetFolder: dirname(target.file),
  });
}

function clientsFrom(from: unknown): readonly Client[] {
  if (typeof from !== 'string') return CLIENTS;
  const names = from.split(',').map((name) => name.trim());
  return [...new Set(names.flatMap((name) => clientsMeant(name)))];
}

function planFor(call: CommandContext, { servers }: Findings): Planned[] {
  const { args, flags, environment } = call;
  for (const name of args) {
    if (servers.some((server) => server.name === name)) continue;
    const near = didYouMean(
      name,
      servers.map((server) => server.name),
    );
    throw new UsageError(
      `no client has a server '${name}'`,
      near === '' ? 'see: toolherd import --dry-run' : near,
    );
  }
  const wanted = args.length === 0 ? servers : servers.filter(({ name }) => args.includes(name));
  const name = typeof flags.name === 'string' ? flags.name : undefined;
  if (name !== undefined && wanted.length !== 1) {
    throw new UsageError(
      '--name is for one server',
      'name it, and the client that has it: import NAME --from CLIENT',
    );
  }
  const { allowedCommands } = settingsOf(call).security;
  return planImport(wanted, { allowedCommands, environment, name });
}

function show({ output }: CommandContext, plan: readonly Planned[], { files }: Findings): void {
  if (plan.length === 0) {
    output.print(files.length === 0 ? 'no config of a client is here' : `no server in ${files.join(', ')}`);
    return;
  }
  output.print(planTable(plan, output.columns));
  for (const line of plan.flatMap(remarksOf)) output.note(line);
}

/** All of them, or those that a person says yes to. */
async function chosen(call: CommandContext, plan: readonly Planned[]): Promise<readonly Planned[]> {
  if (call.flags.yes === true) return plan;
  if (call.output.isJson || !call.isInteractive()) {
    throw new UsageError('there is nobody to ask', 'add --yes, or look first with --dry-run');
  }
  if (await call.confirm(plan.length === 1 ? 'Import it?' : `Import all ${plan.length}?`)) return plan;
  if (plan.length === 1) return [];
  const wanted: Planned[] = [];
  for (const one of plan) if (await call.confirm(`Import ${one.entry.name}?`)) wanted.push(one);
  return wanted;
}

async function write(call: CommandContext, target: ConfigFile, plan: readonly Planned[]): Promise<void> {
  const commands = [...new Set(plan.flatMap(({ command }) => command ?? []))];
  const mayRun = commands.length === 0 || (await areAllowed(call, commands));
  if (mayRun && commands.length > 0) await allowCommands(call, commands);
  for (const one of plan) {
    if (one.command === undefined || mayRun) await writeOne(call, target, one, false);
    else {
      one.result = 'failed';
      one.why = `the command ${one.command} is not allowed: say --allow-commands, or add it to security.allowed_commands`;
    }
  }
}

async function areAllowed(call: CommandContext, commands: readonly string[]): Promise<boolean> {
  if (call.flags['allow-commands'] === true) return true;
  if (call.flags.yes === true || call.output.isJson) return false;
  return call.confirm(`Let the herd run ${commands.join(', ')} (security.allowed_commands)?`);
}
