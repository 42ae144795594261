import { rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readIfExists } from '../../../config/parse/read-file.js';
import { ToolherdError } from '../../../shared/errors.js';
import { writeFileAtomically } from '../../../shared/files/write-user-file.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { type Argv, runProgram } from '../../core/run-program.js';
import { npxWarning, ownCommand } from '../../daemon/own-command.js';
import { launchdService } from './service/launchd.js';
import { keptEnvironment, type Service } from './service/service.js';
import { systemdService } from './service/systemd.js';

export const command = defineCommand({
  name: 'service',
  summary: 'Lets the system keep the daemon running, with systemd or launchd.',
  details: `The daemon starts when you log in, and again when it fails.
The service has the PATH of this shell, so that the daemon finds the same
programs.
Put variables for servers, such as tokens, into the file service.env beside
config.yaml, one NAME=value a line, readable by you alone. The service file
itself has none.`,
  args: { action: { choices: ['install', 'uninstall', 'status'] } },
  options: { 'dry-run': { type: 'boolean', about: 'show the file and the commands, change nothing' } },
  examples: ['toolherd service install --dry-run', 'toolherd service install', 'toolherd service status'],
  exits: { ok: 'ok', failed: 'the system refused', notRunning: 'status: the service does not run' },
  async run(context) {
    const { args, options } = context;
    const service = serviceOf(context);
    if (args.action === 'status') return status(context, service);
    const change = args.action === 'install' ? install : uninstall;
    return change(context, service, options['dry-run']);
  },
});

function serviceOf(context: CommandContext): Service {
  const { environment, userHome, paths, globals, cwd } = context;
  const path = (name: 'config' | 'socket') => {
    const value = globals[name];
    return value === undefined ? [] : [`--${name}`, resolve(cwd, value)];
  };
  const setting = {
    home: userHome,
    uid: process.getuid?.() ?? 0,
    xdgConfigFolder: environment.XDG_CONFIG_HOME || join(userHome, '.config'),
    logFolder: paths.logFolder,
    command: [...ownCommand(context), ...path('config'), ...path('socket')],
    environment: keptEnvironment(environment),
    environmentFile: environmentFileOf(context),
  };
  return process.platform === 'darwin' ? launchdService(setting) : systemdService(setting);
}

const OTHERS = 0o077;

function environmentFileOf({ paths }: CommandContext): string {
  return join(dirname(paths.configFile), 'service.env');
}

async function install(context: CommandContext, service: Service, dryRun: boolean): Promise<number> {
  const { output } = context;
  const { file, text, manager } = service;
  const old = readIfExists(file);
  const isUpdate = old !== undefined && old !== text;
  const steps = isUpdate ? service.update : service.install;
  const report = { manager, file, dry_run: dryRun, commands: steps };
  const doubt = npxWarning(ownCommand(context)[1], 'toolherd service install');
  if (doubt !== undefined) output.note(doubt);
  if (dryRun) {
    output.json({ ok: true, ...report, text });
    output.print(`# ${file}\n${text}\n# then:\n${steps.map(commandLine).join('\n')}`);
    return EXIT.ok;
  }
  if (old !== text) await writeFileAtomically(file, text);
  await runAll(context, service, steps);
  output.json({ ok: true, ...report });
  output.print(`installed: ${file}`);
  for (const hint of service.hints) output.note(hint);
  const variables = environmentFileOf(context);
  if (((statSync(variables, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0) {
    output.note(`warning: others can read ${variables}; for you alone: chmod 600 ${shellWord(variables)}`);
  }
  return EXIT.ok;
}

async function uninstall(context: CommandContext, service: Service, dryRun: boolean): Promise<number> {
  const { output, environment } = context;
  const { file, manager, forget } = service;
  const isInstalled = readIfExists(file) !== undefined;
  if (!isInstalled) output.print(`not installed: ${file}`);
  else if (dryRun)
    output.print(
      [...service.uninstall.map(commandLine), `rm ${shellWord(file)}`, ...forget.map(commandLine)].join('\n'),
    );
  else {
    for (const argv of service.uninstall) await runProgram(argv, environment);
    rmSync(file);
    for (const argv of forget) await runProgram(argv, environment);
    output.print(`uninstalled: ${file}`);
  }
  output.json({ ok: true, manager, file, was_installed: isInstalled, dry_run: dryRun });
  return EXIT.ok;
}

async function status(context: CommandContext, service: Service): Promise<number> {
  const { file, manager, text } = service;
  const there = readIfExists(file);
  const { status: exitStatus } = await runProgram(service.isActive, context.environment);
  const isActive = there !== undefined && exitStatus === 0;
  const isCurrent = there === undefined ? null : there === text;
  context.output.json({
    manager,
    file,
    installed: there !== undefined,
    active: isActive,
    up_to_date: isCurrent,
  });
  const state = there === undefined ? 'not installed' : isActive ? 'running' : 'installed, not running';
  context.output.print(`${state}: ${file}`);
  if (isCurrent === false) {
    context.output.note(
      'the installed file is out of date (PATH changed?); update it with: toolherd service install',
    );
  }
  return isActive ? EXIT.ok : EXIT.notRunning;
}

/** Runs the steps in order, and stops at the first that fails. */
async function runAll(context: CommandContext, service: Service, steps: readonly Argv[]): Promise<void> {
  for (const [index, argv] of steps.entries()) {
    const { status: exitStatus, stderr } = await runProgram(argv, context.environment);
    if (exitStatus === 0) continue;
    const program = argv[0];
    throw new ToolherdError(`${service.manager} does not run the service yet`, {
      why:
        exitStatus === undefined
          ? `there is no ${program} here`
          : `${commandLine(argv)}: ${stderr || `exit status ${exitStatus}`}`,
      fix: `${service.file} is written; run: ${steps.slice(index).map(commandLine).join(' && ')}; or without it: toolherd up`,
    });
  }
}

function commandLine(argv: Argv): string {
  return argv.map(shellWord).join(' ');
}
