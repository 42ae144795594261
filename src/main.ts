import { homedir } from 'node:os';
import { findVerb, parseCommandLine } from './cli/command-line.js';
import type { OpenFleet } from './cli/connection.js';
import { EXIT } from './cli/exit-codes.js';
import { loadBundle } from './cli/load-bundle.js';
import { createOutput, type Output } from './cli/output.js';
import { type Call, UsageError, type Verb } from './cli/verb.js';
import { VERBS } from './cli/verb-table.js';
import { didYouMean } from './near-miss.js';
import { findPaths } from './paths.js';

/** Runs the command: finds the verb, loads it, and turns what went wrong into words and an exit status. */
async function main(argv: readonly string[]): Promise<number> {
  const { name, rest } = findVerb(argv);
  const quiet = argv.includes('-q') || argv.includes('--quiet');
  const output = createOutput(process, { json: argv.includes('--json'), quiet });
  try {
    return await runVerb(name ?? (rest.includes('--version') ? 'version' : 'help'), rest, output);
  } catch (error) {
    const { explainFailure } = loadBundle<typeof import('./cli/failure.js')>('failure');
    return explainFailure(error, output);
  }
}

async function runVerb(name: string, rest: string[], output: Output): Promise<number> {
  const verb = loadVerb(name);
  const { args, flags } = parseCommandLine(rest, name, verb);
  if (flags.help === true && name !== 'help') {
    return loadVerb('help').run(callFor([name], {}, output, []));
  }
  const open: OpenFleet[] = [];
  try {
    return await verb.run(callFor(args, flags, output, open));
  } finally {
    for (const connection of open) connection.close();
  }
}

function loadVerb(name: string): Verb {
  if (Object.hasOwn(VERBS, name)) return loadBundle<{ verb: Verb }>(name).verb;
  const near = didYouMean(name, Object.keys(VERBS));
  const fix = near === '' ? "see 'toolherd help'" : `${near} See 'toolherd help'`;
  throw new UsageError(`unknown command '${name}'`, fix);
}

function callFor(args: readonly string[], flags: Call['flags'], output: Output, open: OpenFleet[]): Call {
  const userHome = homedir();
  const call: Call = {
    args,
    flags,
    output,
    paths: findPaths(process.env, userHome),
    environment: process.env,
    userHome,
    cwd: process.cwd(),
    async fleet({ autostart = true, outlook = 'agent', onLost } = {}) {
      const { openFleet } = loadBundle<typeof import('./cli/connection.js')>('connection');
      const connection = await openFleet(call, autostart, outlook);
      open.push(connection);
      if (onLost !== undefined) void connection.closed.then(onLost);
      return connection.fleet;
    },
    loadVerb,
    isInteractive: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: (question) => loadBundle<typeof import('./cli/confirm.js')>('confirm').confirm(question),
  };
  return call;
}

/** Who stops reading (`| head`) has what it wanted; a file that takes no more is a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`error: the output could not be written: ${error.message}\n`);
  process.exit(EXIT.failed);
});
process.stderr.on('error', () => undefined);

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = EXIT.failed;
  },
);
