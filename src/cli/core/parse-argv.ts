import { parseArgs } from 'node:util';
import { didYouMean } from '../../shared/near-miss.js';
import { type Command, type Flags, GLOBAL_OPTIONS, UsageError } from './command.js';

/** The first word that is no flag is the verb. */
export function findCommand(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  if (hasNoFlags(argv)) return { name: argv[0], rest: argv.slice(1) };
  const { tokens } = parseArgs({
    args: [...argv],
    options: GLOBAL_OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const first = tokens.find((token) => token.kind === 'positional');
  if (first === undefined) return { name: undefined, rest: [...argv] };
  return { name: first.value, rest: argv.filter((_, index) => index !== first.index) };
}

/** Flags and arguments of a verb; throws a UsageError that names the near miss. */
export function parseCommandLine(
  rest: readonly string[],
  name: string,
  verb: Command,
): { args: string[]; flags: Flags; command: readonly string[] | undefined } {
  const options = { ...GLOBAL_OPTIONS, ...verb.options };
  const { words, command } =
    verb.takesCommand === true ? splitAtDashes(rest) : { words: rest, command: undefined };
  try {
    const { values, positionals } = hasNoFlags(words)
      ? { values: {}, positionals: [...words] }
      : parseArgs({ args: [...words], options, allowPositionals: true });
    if (positionals.length > verb.most) {
      throw new UsageError(`too many arguments for '${name}'`, `usage: toolherd ${verb.usage}`);
    }
    return { args: positionals, flags: values as Flags, command };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw explain(error as Error, name, verb, Object.keys(options));
  }
}

/** Words alone need no parser: Node loads its own when it is first used, and a short command would feel it. */
function hasNoFlags(words: readonly string[]): boolean {
  return words.every((word) => !word.startsWith('-'));
}

/** What is for us, and what stands behind `--`. */
export function splitAtDashes(words: readonly string[]): {
  words: readonly string[];
  command: readonly string[] | undefined;
} {
  const dashes = words.indexOf('--');
  if (dashes === -1) return { words, command: undefined };
  return { words: words.slice(0, dashes), command: words.slice(dashes + 1) };
}

function explain(error: Error, name: string, verb: Command, known: readonly string[]): UsageError {
  const option = /'(?:-\w, )?(--?[\w-]+)/.exec(error.message)?.[1] ?? '';
  const near = didYouMean(option.replace(/^--/, ''), known).replace("'", "'--");
  const usage = `usage: toolherd ${verb.usage}`;
  if ('code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return new UsageError(
      `unknown option '${option}' for '${name}'`,
      near === '' ? usage : `${near} ${usage}`,
    );
  }
  return new UsageError(error.message.split('. ')[0] ?? error.message, usage);
}
