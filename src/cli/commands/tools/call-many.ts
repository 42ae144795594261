import { readFileSync } from 'node:fs';
import type { CallParams, ToolResult } from '../../../fleet/fleet.js';
import { type Command, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { singleLine } from '../../ui/text.js';

export const verb: Command = {
  usage: 'call-many FILE|- [--concurrency N] [--first]',
  about: 'Makes many calls at once. The file has a JSON array of calls, or one call a line.',
  help: `A call is {"server": …, "tool": …, "arguments": {…}, "timeout_ms": …}. Each result is printed when it comes, with its
number; no call waits for another, so one that hangs holds up nothing else.

Examples:
  echo '[{"server":"everything","tool":"echo","arguments":{"message":"hi"}}]' | toolherd call-many -
  toolherd call-many calls.jsonl --concurrency 8
  toolherd call-many mirrors.json --first              the first success is enough, the others are cancelled
  toolherd call-many calls.json --timeout 30s --json   all results, in the order of the calls

Exit status: 0 all succeeded (with --first: one did), 1 otherwise.`,
  options: { concurrency: { type: 'string' }, first: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const [file] = call.args;
    if (file === undefined) throw new UsageError('name a file with calls', 'or - for what comes on a pipe');
    const isFirst = call.flags.first === true;
    const timeout = call.flags.timeout as string | undefined;
    const params = {
      calls: readCalls(readFileSync(file === '-' ? 0 : file, 'utf8')),
      concurrency: readConcurrency(call.flags.concurrency as string | undefined),
      mode: isFirst ? ('first' as const) : ('all' as const),
      timeout_ms: timeout === undefined ? undefined : parseDuration(timeout),
    };
    const { output } = call;
    const fleet = await call.fleet();
    const onResult = (index: number, result: ToolResult) => output.print(lineOf(index, result));
    const results = await fleet.callMany(params, output.isJson ? {} : { onResult });
    output.json({ results });
    const successes = results.filter(({ success }) => success).length;
    output.note(`${successes} of ${results.length} succeeded`);
    return successes === results.length || (isFirst && successes > 0) ? EXIT.ok : EXIT.failed;
  },
};

/** What the daemon finds wrong with a call it says itself. */
function readCalls(text: string): CallParams[] {
  const isArray = text.trimStart().startsWith('[');
  const lines = isArray ? [text] : text.split('\n').filter((line) => line.trim() !== '');
  const calls = lines.flatMap((line, at) => {
    try {
      return JSON.parse(line) as CallParams | CallParams[];
    } catch (error) {
      const where = isArray ? 'the file' : `line ${at + 1}`;
      const fix = 'give a JSON array of calls, or one call a line';
      throw new UsageError(`${where} is no JSON: ${(error as Error).message}`, fix);
    }
  });
  if (calls.length === 0)
    throw new UsageError('there are no calls in it', 'give a JSON array, or one call a line');
  return calls;
}

function readConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`--concurrency '${text}' is no number of calls`, 'a whole number, 1 or more');
  return number;
}

function lineOf(index: number, { content, error, metadata }: ToolResult): string {
  const text = content.flatMap((block) =>
    block.type === 'text' ? [block.text] : [`(${block.type} content)`],
  );
  const said = error === null ? text.join(' ') : `${error.type}: ${error.message}`;
  return `${index + 1}  ${singleLine(`${metadata.server}.${metadata.tool}`)}  ${singleLine(said)}`;
}
