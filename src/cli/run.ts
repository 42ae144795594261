import { fstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { loadBundle } from '../bin/load-bundle.js';
import { isCode } from '../shared/errors.js';
import { findPaths } from '../shared/files/paths.js';
import { EXIT } from '../shared/report/exit-codes.js';
import { didYouMean } from '../shared/text/near-miss.js';
import { type Command, type CommandContext, type Globals, UsageError } from './core/command.js';
import { COMMANDS, SHARED_FILES } from './core/command-names.js';
import {
  findCommand,
  parseTokens,
  readGlobals,
  readValues,
  splitAtDashes,
  type Tokens,
} from './core/parse-argv.js';
import { limitByTimeoutOption } from './core/timeout.js';
import { usageHint } from './core/usage.js';
import type { OpenFleet } from './daemon/connect.js';
import { createOutput, type Output } from './ui/output.js';

/** Node opens standard error when it is first touched, which takes a millisecond. It may be closed: that is no error. */
const streams = {
  stdout: process.stdout,
  get stderr() {
    if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
    return process.stderr;
  },
  get isOne() {
    try {
      const [out, err] = [fstatSync(1), fstatSync(2)];
      return out.dev === err.dev && out.ino === err.ino;
    } catch {
      return false;
    }
  },
};

/** Finds the command, loads and runs it, and turns an error into a message and an exit status. */
async function main(argv: readonly string[]): Promise<number> {
  const { name, rest } = findCommand(argv);
  // until the options are read, for an error in them
  let output = outputOf(flagsIn(argv));
  let command: Command | undefined;
  try {
    const asksVersion = rest.includes('--version') || rest.includes('-V');
    command = await loadCommand(name ?? (asksVersion ? 'version' : 'help'));
    const tokens = parseTokens(rest, command);
    const globals = readGlobals(tokens);
    output = outputOf(globals);
    if (!globals.help || command.name === 'help') return await runCommand(command, tokens, globals, output);
    const { explain } = command;
    if (explain !== undefined && tokens.positionals.length > 0)
      return await runCommand({ ...command, run: explain }, tokens, globals, output);
    const help = await loadCommand('help');
    return await runCommand(help, parseTokens([command.name], help), globals, output);
  } catch (error) {
    const { reportError } = loadBundle<typeof import('./core/report-error.js')>('report-error');
    return reportError(withUsage(error, command), output, process.env);
  }
}

type OutputFlags = Pick<Globals, 'json' | 'quiet' | 'no-color'>;

function outputOf({ json, quiet, 'no-color': noColor }: OutputFlags): Output {
  const color = !noColor && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return createOutput(streams, { json, quiet, color });
}

function flagsIn(argv: readonly string[]): OutputFlags {
  const { words } = splitAtDashes(argv);
  return {
    json: words.includes('--json'),
    quiet: words.includes('-q') || words.includes('--quiet'),
    'no-color': words.includes('--no-color'),
  };
}

/** A usage error without a fix gets the usage line. By its type: a bundle has its own copy of the class. */
function withUsage(error: unknown, command: Command | undefined): unknown {
  const { type, message = '', fix } = error as Partial<UsageError>;
  if (type !== 'UsageError' || fix !== undefined || command === undefined) return error;
  return new UsageError(message, usageHint(command));
}

async function runCommand(
  command: Command,
  tokens: Tokens,
  globals: Globals,
  output: Output,
): Promise<number> {
  const values = readValues(command, tokens);
  const open: OpenFleet[] = [];
  try {
    const context = contextOf(globals, output, open);
    const done = command.run({ ...context, ...values, passthrough: tokens.passthrough });
    return await (command.ownTimeout ? done : limitByTimeoutOption(context, done));
  } finally {
    for (const connection of open) connection.close();
  }
}

interface Bundle {
  command?: Command;
  /** Of a file that declares several. */
  commands?: readonly Command[];
}

/** The commands that are used most are in this bundle, and set up when called: every further file costs a millisecond. */
const PRELOADED: Readonly<Record<string, () => Promise<Bundle>>> = {
  call: () => import('./commands/tools/call.js'),
  status: () => import('./commands/servers/status.js'),
};

async function loadCommand(name: string): Promise<Command> {
  if (Object.hasOwn(COMMANDS, name)) {
    const load = Object.hasOwn(PRELOADED, name) ? PRELOADED[name] : undefined;
    const bundle = load === undefined ? loadBundle<Bundle>(SHARED_FILES[name] ?? name) : await load();
    const command = bundle.command ?? bundle.commands?.find((one) => one.name === name);
    if (command !== undefined) return command;
  }
  const near = didYouMean(name, Object.keys(COMMANDS));
  const fix = near === '' ? "see 'toolherd help'" : `${near} See 'toolherd help'`;
  throw new UsageError(`unknown command '${name}'`, fix);
}

function contextOf(globals: Globals, output: Output, open: OpenFleet[]): CommandContext {
  const userHome = homedir();
  const context: CommandContext = {
    globals,
    output,
    paths: findPaths(process.env, userHome),
    environment: process.env,
    userHome,
    cwd: currentFolder(),
    async fleet({
      autostart = true,
      viewMode = 'agent',
      anyConfig = false,
      absentFix,
      timeoutMs,
      onLost,
    } = {}) {
      const { openFleet } = await import('./daemon/connect.js');
      const timeout = timeoutMs ?? globals.timeout;
      const config = anyConfig ? undefined : globals.config;
      const limited = { ...context, globals: { ...globals, timeout, config } };
      const connection = await openFleet(limited, autostart, viewMode).catch((error) => {
        throw absentFix === undefined ? error : withAbsentFix(error, absentFix);
      });
      open.push(connection);
      if (onLost !== undefined) void connection.closed.then(onLost);
      return connection.fleet;
    },
    loadCommand,
    isInteractive: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: (question) => loadBundle<typeof import('./ui/confirm.js')>('confirm').confirm(question),
  };
  return context;
}

/** By its type: a bundle has its own copy of the class. */
function withAbsentFix(error: unknown, fix: string): unknown {
  return (error as { type?: unknown }).type === 'DaemonNotRunningError'
    ? Object.assign(error as Error, { fix })
    : error;
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the current directory no longer exists', 'change to another one: cd');
  }
}

/** The status when the event loop runs empty before the command is done: that is no success. */
process.exitCode = EXIT.failed;

/** A reader that stops (`| head`) has what it wanted. A file that takes no more is a failure. */
process.stdout.on('error', (error) => {
  if (isCode(error, 'EPIPE')) process.exit(EXIT.ok);
  streams.stderr.write(`error: the output could not be written: ${error.message}\n`);
  process.exit(EXIT.failed);
});

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
    // what took too long is still at work here, and would print its result
    if (status === EXIT.timeout) process.stdout.write('', () => process.exit());
  },
  (error: unknown) => {
    streams.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = EXIT.failed;
  },
);
