import { rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writeFileAtomically } from '../../../config/edit/index.js';
import { FileReadError, readSmallFile } from '../../../config/parse/read-file.js';
import { ToolherdError } from '../../../shared/errors.js';
import { didYouMean } from '../../../shared/near-miss.js';
import { shellWord } from '../../../shared/shell-word.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { ownCommand } from '../../daemon/own-command.js';
import { exec } from './service/exec.js';
import { launchdService } from './service/launchd.js';
import { systemdService } from './service/systemd.js';
import { type Argv, keptEnvironment, type Service } from './service/unit.js';

const ACTIONS = { install, uninstall, status } as const;

export const verb: Command = {
  usage: 'service install|uninstall|status [--dry-run]',
  about: `Lets the system keep the daemon running: as a unit of your own systemd, or an agent of launchd. It starts when you
log in, and again when it fails. PATH is taken along as it is now, so that the daemon finds what this shell finds.`,
  help: `Variables for servers (tokens) go into the file service.env beside config.yaml, one NAME=value a line, readable by you
alone; the service file itself holds none.

Examples:
  toolherd service install --dry-run     shows the file and what would be run
  toolherd service install
  toolherd service status

Exit status: 0 ok, 1 the system would not, 3 it does not run (status).`,
  options: { 'dry-run': { type: 'boolean' } },
  most: 1,
  async run(call) {
    const [action] = call.args;
    const known = Object.keys(ACTIONS);
    if (action === undefined) throw new UsageError('say what to do', `one of: ${known.join(', ')}`);
    if (!Object.hasOwn(ACTIONS, action)) {
      throw new UsageError(
        `unknown action '${action}'`,
        didYouMean(action, known) || `one of: ${known.join(', ')}`,
      );
    }
    return ACTIONS[action as keyof typeof ACTIONS](call, serviceOf(call));
  },
};

function serviceOf(call: CommandContext): Service {
  const { environment, userHome, paths, flags, cwd } = call;
  const path = (name: 'config' | 'socket') => {
    const value = flags[name];
    return typeof value === 'string' ? [`--${name}`, resolve(cwd, value)] : [];
  };
  const setting = {
    home: userHome,
    uid: process.getuid?.() ?? 0,
    xdgConfigFolder: environment.XDG_CONFIG_HOME || join(userHome, '.config'),
    logFolder: paths.logFolder,
    command: [...ownCommand(call), ...path('config'), ...path('socket')],
    environment: keptEnvironment(environment),
    environmentFile: environmentFileOf(call),
  };
  return process.platform === 'darwin' ? launchdService(setting) : systemdService(setting);
}

const OTHERS = 0o077;

function environmentFileOf({ paths }: CommandContext): string {
  return join(dirname(paths.configFile), 'service.env');
}

async function install(call: CommandContext, service: Service): Promise<number> {
  const { output } = call;
  const { file, text, manager } = service;
  const old = textOf(file);
  const isUpdate = old !== undefined && old !== text;
  const steps = isUpdate ? service.update : service.install;
  const dryRun = call.flags['dry-run'] === true;
  const told = { manager, file, dry_run: dryRun, commands: steps };
  if (dryRun) {
    output.json({ ok: true, ...told, text });
    output.print(`# ${file}\n${text}\n# then:\n${steps.map(shown).join('\n')}`);
    return EXIT.ok;
  }
  if (old !== text) await writeFileAtomically(file, text);
  await runAll(call, service, steps);
  output.json({ ok: true, ...told });
  output.print(`installed: ${file}`);
  for (const hint of service.hints) output.note(hint);
  const variables = environmentFileOf(call);
  if (((statSync(variables, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0) {
    output.note(`warning: others can read ${variables}; for you alone: chmod 600 ${shellWord(variables)}`);
  }
  return EXIT.ok;
}

async function uninstall(call: CommandContext, service: Service): Promise<number> {
  const { output, environment } = call;
  const { file, manager, forget } = service;
  const dryRun = call.flags['dry-run'] === true;
  const isInstalled = textOf(file) !== undefined;
  if (!isInstalled) output.print(`not installed: ${file}`);
  else if (dryRun)
    output.print([...service.uninstall.map(shown), `rm ${file}`, ...forget.map(shown)].join('\n'));
  else {
    for (const words of service.uninstall) await exec(words, environment);
    rmSync(file);
    for (const words of forget) await exec(words, environment);
    output.print(`uninstalled: ${file}`);
  }
  output.json({ ok: true, manager, file, was_installed: isInstalled, dry_run: dryRun });
  return EXIT.ok;
}

async function status(call: CommandContext, service: Service): Promise<number> {
  const { file, manager, text } = service;
  const there = textOf(file);
  const { status: said } = await exec(service.isActive, call.environment);
  const isActive = there !== undefined && said === 0;
  const isCurrent = there === undefined ? null : there === text;
  call.output.json({
    manager,
    file,
    installed: there !== undefined,
    active: isActive,
    up_to_date: isCurrent,
  });
  const state = there === undefined ? 'not installed' : isActive ? 'running' : 'installed, not running';
  call.output.print(`${state}: ${file}`);
  if (isCurrent === false) {
    call.output.note(
      'it is not what this command would write now (PATH?); renew it with: toolherd service install',
    );
  }
  return isActive ? EXIT.ok : EXIT.notRunning;
}

/** One after the other; the first that fails ends it. */
async function runAll(call: CommandContext, service: Service, steps: readonly Argv[]): Promise<void> {
  for (const [index, words] of steps.entries()) {
    const { status: said, said: why } = await exec(words, call.environment);
    if (said === 0) continue;
    const program = words[0];
    throw new ToolherdError(`${service.manager} does not run the service yet`, {
      why:
        said === undefined
          ? `there is no ${program} here`
          : `${shown(words)}: ${why || `exit status ${said}`}`,
      fix: `${service.file} is written; run: ${steps.slice(index).map(shown).join(' && ')}; or without it: toolherd up`,
    });
  }
}

function shown(words: Argv): string {
  return words.join(' ');
}

function textOf(file: string): string | undefined {
  try {
    return readSmallFile(file);
  } catch (error) {
    if (error instanceof FileReadError && error.isMissing) return undefined;
    throw error;
  }
}
