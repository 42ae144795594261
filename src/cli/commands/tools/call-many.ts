import type { CallParams, ToolResult } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand, UsageError } from '../../core/command.js';
import { readInput } from '../../core/read-input.js';
import { singleLine } from '../../ui/text.js';

export const command = defineCommand({
  name: 'call-many',
  summary: 'Makes many calls at once, from a file with a JSON array or one call a line.',
  details: `A call is {"server": …, "tool": …, "arguments": {…}, "timeout_ms": …}.
Each result is printed when it arrives, with the number of its call.
Calls do not wait for each other, unless there are more than --concurrency.`,
  args: { file: { label: 'FILE|-', noun: 'file with calls', hint: 'or - to read standard input' } },
  options: {
    concurrency: { type: 'integer', min: 1, about: 'how many calls run at the same time' },
    first: { type: 'boolean', about: 'stop at the first success, and cancel the others' },
  },
  examples: [
    `echo '[{"server":"everything","tool":"get-env"}]' | toolherd call-many -`,
    'toolherd call-many calls.jsonl --concurrency 8',
    'toolherd call-many mirrors.json --first',
    ['toolherd call-many calls.json --json', 'results in the order of the calls'],
  ],
  exits: {
    ok: 'all calls succeeded; with --first: one did',
    failed: 'a call failed; with --first: all of them',
    usage: 'the file cannot be read, or is no list of calls',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options, globals, output } = context;
    const params = {
      calls: readCalls(readInput(context, args.file)),
      concurrency: options.concurrency,
      mode: options.first ? ('first' as const) : ('all' as const),
      timeout_ms: globals.timeout,
    };
    const fleet = await context.fleet();
    const onResult = (index: number, result: ToolResult) => output.print(lineOf(index, result));
    const results = await fleet.callMany(params, output.isJson ? {} : { onResult });
    output.json({ results });
    const successes = results.filter(({ success }) => success).length;
    output.note(`${successes} of ${results.length} succeeded`);
    return successes === results.length || (options.first && successes > 0) ? EXIT.ok : EXIT.failed;
  },
});

/** The daemon checks each call. */
function readCalls(text: string): CallParams[] {
  const isArray = text.trimStart().startsWith('[');
  const lines = isArray ? [text] : text.split('\n').filter((line) => line.trim() !== '');
  const calls = lines.flatMap((line, at) => {
    try {
      return JSON.parse(line) as CallParams | CallParams[];
    } catch (error) {
      const where = isArray ? 'the file' : `line ${at + 1}`;
      const fix = 'give a JSON array of calls, or one call a line';
      throw new UsageError(`${where} is not valid JSON: ${(error as Error).message}`, fix);
    }
  });
  if (calls.length === 0)
    throw new UsageError('the file holds no calls', 'give a JSON array, or one call a line');
  return calls;
}

function lineOf(index: number, { content, error, metadata }: ToolResult): string {
  const text = content.flatMap((block) =>
    block.type === 'text' ? [block.text] : [`(${block.type} content)`],
  );
  const outcome = error === null ? text.join(' ') : `${error.type}: ${error.message}`;
  return `${index + 1}  ${singleLine(`${metadata.server}.${metadata.tool}`)}  ${singleLine(outcome)}`;
}
