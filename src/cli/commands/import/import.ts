import { dirname } from 'node:path';
import { allowCommands } from '../../../install/allow-commands.js';
import { type ConfigFile, globalFile, localFile, settingsOf } from '../../../install/config-target.js';
import { CLIENTS, type Client, type Findings, findServers, type Scope } from '../../../integrations/index.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { didYouMean } from '../../../shared/text/near-miss.js';
import { type CommandContext, defineCommand, UsageError } from '../../core/command.js';
import { machineOf } from '../../core/machine.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { CLIENT_NAMES, clientsMeant, SCOPE_OPTION } from '../agents/select-client.js';
import { type Planned, planImport } from './plan.js';
import { brokenText, plannedJson, planTable, remarksOf } from './plan-table.js';
import { checkName, writeOne } from './write.js';

export const command = defineCommand({
  name: 'import',
  summary: 'Copies the MCP servers in the configs of other programs into the global config.',
  details: `It finds them, shows them, asks, and writes them.
The programs keep their own entries; see "toolherd attach".
Clients: ${CLIENT_NAMES.join(', ')}.
Variables stay variables.
A secret is not copied: it becomes \${NAME}. import says which variable to set,
and where its value is. Such a server is disabled: set the variable, then
"toolherd enable" it.
import names the fields that toolherd does not have.
A command other than npx, uvx and docker is added to security.allowed_commands,
if you answer yes or give --allow-commands.`,
  args: { names: { label: 'NAME', optional: true, many: true } },
  options: {
    from: { type: 'string', label: 'CLIENT,…', complete: CLIENT_NAMES, about: 'only from these programs' },
    scope: SCOPE_OPTION,
    'dry-run': { type: 'boolean', about: 'show what is there, write nothing' },
    yes: { type: 'boolean', short: 'y', about: 'do not ask' },
    'allow-commands': { type: 'boolean', about: 'allow the commands of the servers' },
    global: { type: 'boolean', short: 'g', about: 'into the global config (the default)' },
    name: { type: 'string', label: 'N', about: 'another name, for one server' },
  },
  examples: [
    'toolherd import --dry-run',
    'toolherd import --from cursor,codex',
    'toolherd import github --from zed --name github-work',
    'toolherd import --scope project --agent agent.yaml --yes',
  ],
  exits: {
    ok: 'ok',
    failed: 'a file could not be read or written',
    usage: 'without a terminal and without --yes',
  },
  async run(context) {
    const { args, options, output } = context;
    const target = targetOf(context, options.global);
    const findings = find(context, target, options);
    for (const broken of findings.broken) output.note(brokenText(broken));
    const plan = planFor(context, findings, args.names, options.name);
    for (const one of plan.filter(isNew))
      await (one.command === undefined ? writeOne(context, target, one, true) : checkName(target, one));
    const dryRun = options['dry-run'];
    if (!output.isJson) show(context, plan, findings, target);
    if (!dryRun && plan.some(isNew)) {
      await write(context, target, await chosen(context, plan.filter(isNew), options.yes), options);
      const added = plan.filter(({ result }) => result === 'added');
      if (added.some(({ unset }) => unset.length === 0)) await notifyConfigChange(context);
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
});

const isNew = ({ result }: Planned) => result === 'new';

/** The global config, unless --agent names another file. */
function targetOf(context: CommandContext, isGlobal: boolean): ConfigFile {
  if (context.globals.agent === undefined) return globalFile(context);
  if (isGlobal) throw new UsageError('-g and --agent name different files', 'use one of them');
  return localFile(context) ?? globalFile(context);
}

function find(
  context: CommandContext,
  target: ConfigFile,
  { from, scope }: { from: string | undefined; scope: Scope },
): Findings {
  return findServers({
    clients: from === undefined ? CLIENTS : clientsIn(from),
    scope,
    machine: machineOf(context),
    folder: context.cwd,
    targetFolder: dirname(target.file),
  });
}

function clientsIn(list: string): readonly Client[] {
  const names = list.split(',').map((name) => name.trim());
  return [...new Set(names.flatMap((name) => clientsMeant(name)))];
}

function planFor(
  context: CommandContext,
  { servers }: Findings,
  names: readonly string[],
  name: string | undefined,
): Planned[] {
  const known = servers.map((server) => server.name);
  for (const unknown of names.filter((one) => !known.includes(one))) {
    const near = didYouMean(unknown, known);
    throw new UsageError(
      `no client has a server '${unknown}'`,
      near === '' ? 'see: toolherd import --dry-run' : near,
    );
  }
  const wanted = names.length === 0 ? servers : servers.filter((server) => names.includes(server.name));
  if (name !== undefined && wanted.length !== 1) {
    throw new UsageError(
      '--name is for one server',
      'name it, and the client that has it: import NAME --from CLIENT',
    );
  }
  const { allowedCommands } = settingsOf(context).security;
  return planImport(wanted, { allowedCommands, environment: context.environment, name });
}

function show(
  { output }: CommandContext,
  plan: readonly Planned[],
  { files, searched }: Findings,
  target: ConfigFile,
): void {
  if (plan.length === 0) {
    if (files.length > 0) output.print(`no server in ${files.join(', ')}`);
    else {
      output.print('no client has a config that import knows');
      const places = searched.map(({ client, file }) => `  ${client.title}: ${file}`);
      output.note(['looked for:', ...places].join('\n'));
    }
    return;
  }
  output.print(planTable(plan, output.columns));
  for (const line of plan.flatMap((one) => remarksOf(one, target))) output.note(line);
}

/** All of them with --yes, else those that the user confirms. */
async function chosen(
  context: CommandContext,
  plan: readonly Planned[],
  yes: boolean,
): Promise<readonly Planned[]> {
  if (yes) return plan;
  if (context.output.isJson || !context.isInteractive()) {
    throw new UsageError('there is no terminal to ask on', 'add --yes, or look first with --dry-run');
  }
  if (await context.confirm(plan.length === 1 ? 'Import it?' : `Import all ${plan.length}?`)) return plan;
  if (plan.length === 1) return [];
  const wanted: Planned[] = [];
  for (const one of plan) if (await context.confirm(`Import ${one.entry.name}?`)) wanted.push(one);
  return wanted;
}

interface Consent {
  yes: boolean;
  'allow-commands': boolean;
}

async function write(
  context: CommandContext,
  target: ConfigFile,
  plan: readonly Planned[],
  consent: Consent,
): Promise<void> {
  const commands = [...new Set(plan.flatMap((one) => one.command ?? []))];
  const mayRun = commands.length === 0 || (await areAllowed(context, commands, consent));
  if (mayRun && commands.length > 0) await allowCommands(context, commands);
  for (const one of plan) {
    if (one.command === undefined || mayRun) await writeOne(context, target, one, false);
    else {
      one.result = 'failed';
      one.why = `the command ${one.command} is not allowed: say --allow-commands, or add it to security.allowed_commands`;
    }
  }
}

async function areAllowed(
  context: CommandContext,
  commands: readonly string[],
  consent: Consent,
): Promise<boolean> {
  if (consent['allow-commands']) return true;
  if (consent.yes || context.output.isJson) return false;
  return context.confirm(`Let the herd run ${commands.join(', ')} (security.allowed_commands)?`);
}
