#!/usr/bin/env node
import { homedir } from 'node:os';
import { findVerb, parseCommandLine } from './cli/command-line.js';
import { EXIT } from './cli/exit-codes.js';
import { createOutput, type Output } from './cli/output.js';
import type { Call } from './cli/verb.js';
import { VERBS } from './cli/verbs.js';
import { findPaths } from './paths.js';

/** Runs the command: finds the verb, loads it, and turns what went wrong into words and an exit status. */
async function main(argv: readonly string[]): Promise<number> {
  const { name, rest } = findVerb(argv);
  const wantsJson = argv.includes('--json');
  const output = outputFor(
    wantsJson,
    rest.some((flag) => flag === '-q' || flag === '--quiet'),
  );
  try {
    return await runVerb(name, rest, output);
  } catch (error) {
    const { explainFailure } = await import('./cli/failure.js');
    return explainFailure(error, output);
  }
}

async function runVerb(name: string | undefined, rest: string[], output: Output): Promise<number> {
  if (name === undefined) return runVerb(rest.includes('--version') ? 'version' : 'help', rest, output);
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (entry === undefined) {
    const { unknownVerb } = await import('./cli/unknown-verb.js');
    throw unknownVerb(name);
  }
  const { verb } = await entry.load();
  const { args, flags } = parseCommandLine(rest, name, verb);
  if (flags.help === true && name !== 'help') {
    output.print(await helpOf(name));
    return EXIT.ok;
  }
  return verb.run(callFor(args, flags, output));
}

async function helpOf(name: string): Promise<string> {
  const { helpText } = await import('./cli/help.js');
  return helpText(name);
}

function callFor(args: readonly string[], flags: Call['flags'], output: Output): Call {
  const userHome = homedir();
  return {
    args,
    flags,
    output,
    paths: findPaths(process.env, userHome),
    environment: process.env,
    userHome,
    cwd: process.cwd(),
    confirm: async (question) => (await import('./cli/confirm.js')).confirm(question),
  };
}

function outputFor(json: boolean, quiet: boolean): Output {
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return createOutput(process, { json, quiet, isInteractive });
}

process.exitCode = await main(process.argv.slice(2));
