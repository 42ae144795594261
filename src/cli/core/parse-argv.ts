import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isCode } from '../../shared/errors.js';
import { didYouMean } from '../../shared/text/near-miss.js';
import {
  type ArgumentDeclaration,
  type Command,
  GLOBAL_OPTIONS,
  type Globals,
  type OptionDeclaration,
  UsageError,
} from './command.js';
import { parseDuration } from './duration.js';
import { usageHint } from './usage.js';

/** The first word that is not an option is the name of the command. */
export function findCommand(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  if (hasNoOptions(argv)) return { name: argv[0], rest: argv.slice(1) };
  const { tokens } = parseArgs({
    args: [...argv],
    options: parserOptions(GLOBAL_OPTIONS),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const first = tokens.find((token) => token.kind === 'positional');
  if (first === undefined) return { name: undefined, rest: [...argv] };
  return { name: first.value, rest: argv.filter((_, index) => index !== first.index) };
}

/** A command line as options and arguments, not yet checked. */
export interface Tokens {
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  positionals: readonly string[];
  passthrough: readonly string[] | undefined;
}

/** Throws a UsageError for an unknown option, with the nearest name. */
export function parseTokens(rest: readonly string[], command: Command): Tokens {
  const { words, passthrough } =
    command.passthrough === undefined ? { words: rest, passthrough: undefined } : splitAtDashes(rest);
  if (hasNoOptions(words)) return { values: {}, positionals: words, passthrough };
  const options = { ...GLOBAL_OPTIONS, ...command.options };
  try {
    const args = [...words];
    return { ...parseArgs({ args, options: parserOptions(options), allowPositionals: true }), passthrough };
  } catch (error) {
    throw explain(error as Error, command, options, words);
  }
}

/** The values of a command's arguments and options, as it declares them. Throws a UsageError for any that does not fit. */
export function readValues(command: Command, { values, positionals }: Tokens) {
  return {
    args: readArguments(command, positionals, values),
    options: readOptions(command.options, values),
  };
}

export function readGlobals({ values }: Tokens): Globals {
  return readOptions(GLOBAL_OPTIONS, values) as Globals;
}

/** Node loads its parser when it is first used, which a short command would feel: words alone need none. */
function hasNoOptions(words: readonly string[]): boolean {
  return words.every((word) => !word.startsWith('-'));
}

/** What is for us, and what stands behind `--`. */
export function splitAtDashes(words: readonly string[]): {
  words: readonly string[];
  passthrough: readonly string[] | undefined;
} {
  const dashes = words.indexOf('--');
  if (dashes === -1) return { words, passthrough: undefined };
  return { words: words.slice(0, dashes), passthrough: words.slice(dashes + 1) };
}

function parserOptions(
  options: Readonly<Record<string, OptionDeclaration>>,
): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([key, { type, short, ...more }]) => [
      key,
      {
        type: type === 'boolean' ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
        multiple: 'many' in more && more.many === true,
      },
    ]),
  );
}

/** Turns an error of Node's parser into one with a suggestion. */
function explain(
  error: Error,
  command: Command,
  known: Readonly<Record<string, OptionDeclaration>>,
  words: readonly string[],
): UsageError {
  const option = /'(?:-\w, )?(--?[\w-]+)/.exec(error.message)?.[1] ?? '';
  const name = option.replace(/^--?/, '');
  if (isCode(error, 'ERR_PARSE_ARGS_UNKNOWN_OPTION')) {
    const near = didYouMean(name, Object.keys(known)).replace("'", "'--");
    const before = words.slice(0, words.indexOf(option)).filter((word) => !word.startsWith('-'));
    const taken = Object.keys(command.args).length;
    const behind = before.length > taken ? fixOfExtra(command, before.slice(taken)) : undefined;
    const fix = behind ?? (near === '' ? undefined : `${near} ${usageHint(command)}`);
    return new UsageError(`unknown option '${option}' for '${command.name}'`, fix);
  }
  const found = Object.entries(known).find(([key, { short }]) => key === name || short === name);
  if (found === undefined) return new UsageError(error.message.split('. ')[0] ?? error.message);
  const [key, declared] = found;
  if (declared.type === 'boolean') return new UsageError(`--${key} takes no value`);
  if (!error.message.includes('ambiguous')) return new UsageError(`--${key} needs a value`);
  if (declared.type === 'integer') return numberError(key, declared);
  // Node takes a word with a dash for the next option
  return new UsageError(
    `--${key} needs a value`,
    `a value that begins with a dash is written --${key}=VALUE`,
  );
}

/** The fix for words of another program that stand before `--`, and for a URL without its option. */
function fixOfExtra({ name, passthrough, options }: Command, extra: readonly string[]): string | undefined {
  if (options.url !== undefined && extra.some((word) => word.includes('://')))
    return `write toolherd ${name} NAME --url URL`;
  if (passthrough === undefined || passthrough.hidden) return undefined;
  return `put the command behind --: toolherd ${name} NAME -- ${passthrough.label}`;
}

function readArguments(
  command: Command,
  positionals: readonly string[],
  values: Tokens['values'],
): Record<string, unknown> {
  const { name, args, options } = command;
  const left = [...positionals];
  const read: Record<string, unknown> = {};
  const missing: [key: string, argument: ArgumentDeclaration][] = [];
  for (const [key, argument] of Object.entries(args)) {
    const given = left.splice(0, argument.many ? left.length : 1);
    for (const word of given) checkChoice(word, argument.choices, argument.noun ?? key, undefined);
    const isReplaced = argument.unless !== undefined && values[argument.unless] !== undefined;
    if (isReplaced ? given.length > 0 : given.length === 0 && !argument.optional)
      missing.push([key, argument]);
    read[key] = argument.many ? given : given[0];
  }
  if (left.length > 0) throw new UsageError(`too many arguments for '${name}'`, fixOfExtra(command, left));
  if (missing.length > 0) throw missingError(missing, options);
  return read;
}

function missingError(
  missing: readonly [key: string, argument: ArgumentDeclaration][],
  options: Command['options'],
): UsageError {
  const nouns = missing.map(([key, { noun = key }]) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`);
  const [, { unless, hint } = {}] = missing[0] ?? [];
  const instead = unless === undefined || options[unless]?.hidden ? '' : `, or say --${unless}`;
  return new UsageError(`name ${nouns.join(' and ')}${instead}`, hint);
}

function readOptions(
  declared: Readonly<Record<string, OptionDeclaration>>,
  values: Tokens['values'],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(declared).map(([key, option]) => [key, readOption(key, option, values[key])]),
  );
}

function readOption(key: string, option: OptionDeclaration, value: Tokens['values'][string]): unknown {
  if (option.type === 'boolean') return value === true;
  if (option.type === 'string') {
    if (option.many) return value ?? [];
    if (typeof value === 'string') checkChoice(value, option.choices, key, `--${key}`);
    return value ?? option.default;
  }
  if (typeof value !== 'string') return option.default;
  if (option.type === 'duration') {
    const ms = parseDuration(value);
    if (ms !== undefined) return ms;
    throw new UsageError(`--${key}: '${value}' is not a duration`, 'write for example 30s, 500ms or 2m');
  }
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = option;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw numberError(key, option);
}

function numberError(key: string, { min = 0, max }: { min?: number; max?: number }): UsageError {
  const range = max === undefined ? `, ${min} or more` : ` from ${min} to ${max}`;
  return new UsageError(`--${key} must be a whole number${range}`, `for example --${key} 20`);
}

function checkChoice(
  word: string,
  choices: readonly string[] | undefined,
  noun: string,
  option: string | undefined,
): void {
  if (choices === undefined || choices.includes(word)) return;
  const near = didYouMean(word, choices);
  // the usage line shows the choices of an argument
  const all = option === undefined ? undefined : `one of: ${choices.join(', ')}`;
  throw new UsageError(`unknown ${noun} '${word}'`, near === '' ? all : near);
}
