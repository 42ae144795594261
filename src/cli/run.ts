import { homedir } from 'node:os';
import { loadBundle } from '../bin/load-bundle.js';
import { didYouMean } from '../shared/near-miss.js';
import { findPaths } from '../shared/paths.js';
import { COMMANDS } from './commands.js';
import { type Command, type CommandContext, UsageError } from './core/command.js';
import { EXIT } from './core/exit-codes.js';
import { findCommand, parseCommandLine, splitAtDashes } from './core/parse-argv.js';
import type { OpenFleet } from './daemon/connect.js';
import { createOutput, type Output } from './ui/output.js';

/** Standard error is touched when there is something to say: it takes a millisecond. Nobody may be reading it. */
const streams = {
  stdout: process.stdout,
  get stderr() {
    if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
    return process.stderr;
  },
};

/** Runs the command: finds the verb, loads it, and turns what went wrong into words and an exit status. */
async function main(argv: readonly string[]): Promise<number> {
  const { name, rest } = findCommand(argv);
  const { words } = splitAtDashes(argv);
  const quiet = words.includes('-q') || words.includes('--quiet');
  const color = !words.includes('--no-color') && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  const output = createOutput(streams, { json: words.includes('--json'), quiet, color });
  try {
    return await runVerb(name ?? (rest.includes('--version') ? 'version' : 'help'), rest, output);
  } catch (error) {
    const { reportError } = loadBundle<typeof import('./core/report-error.js')>('failure');
    return reportError(error, output, process.env);
  }
}

async function runVerb(name: string, rest: string[], output: Output): Promise<number> {
  const verb = await loadVerb(name);
  const { args, flags, command } = parseCommandLine(rest, name, verb);
  if (flags.help === true && name !== 'help') {
    return (await loadVerb('help')).run(callFor([name], {}, output, []));
  }
  const open: OpenFleet[] = [];
  try {
    return await verb.run({ ...callFor(args, flags, output, open), command });
  } finally {
    for (const connection of open) connection.close();
  }
}

/** What is used most is in the same bundle, and set up when it is called: every further file costs a millisecond. */
const AT_HAND: Readonly<Record<string, () => Promise<{ verb: Command }>>> = {
  call: () => import('./commands/tools/call.js'),
  status: () => import('./commands/servers/status.js'),
};

async function loadVerb(name: string): Promise<Command> {
  if (Object.hasOwn(AT_HAND, name)) return (await AT_HAND[name]!()).verb;
  if (Object.hasOwn(COMMANDS, name)) return loadBundle<{ verb: Command }>(name).verb;
  const near = didYouMean(name, Object.keys(COMMANDS));
  const fix = near === '' ? "see 'toolherd help'" : `${near} See 'toolherd help'`;
  throw new UsageError(`unknown command '${name}'`, fix);
}

function callFor(
  args: readonly string[],
  flags: CommandContext['flags'],
  output: Output,
  open: OpenFleet[],
): CommandContext {
  const userHome = homedir();
  const call: CommandContext = {
    args,
    flags,
    output,
    paths: findPaths(process.env, userHome),
    environment: process.env,
    userHome,
    cwd: whereWeAre(),
    async fleet({ autostart = true, viewMode = 'agent', timeout, onLost } = {}) {
      const { openFleet } = await import('./daemon/connect.js');
      const patient = timeout === undefined ? call : { ...call, flags: { ...flags, timeout } };
      const connection = await openFleet(patient, autostart, viewMode);
      open.push(connection);
      if (onLost !== undefined) void connection.closed.then(onLost);
      return connection.fleet;
    },
    loadVerb,
    isInteractive: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: (question) => loadBundle<typeof import('./ui/confirm.js')>('confirm').confirm(question),
  };
  return call;
}

function whereWeAre(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the folder that the shell is in is gone', 'go to one that is there: cd');
  }
}

/** Where nothing is left to wait for and the verb is not done, that is no success. */
process.exitCode = EXIT.failed;

/** Who stops reading (`| head`) has what it wanted; a file that takes no more is a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  streams.stderr.write(`error: the output could not be written: ${error.message}\n`);
  process.exit(EXIT.failed);
});

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    streams.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = EXIT.failed;
  },
);
