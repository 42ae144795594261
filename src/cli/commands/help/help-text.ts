import { EXIT } from '../../../shared/report/exit-codes.js';
import { type Command, GLOBAL_OPTIONS, type OptionDeclaration } from '../../core/command.js';
import { GROUPS } from '../../core/command-names.js';
import { optionLabel, usageOf, visibleOptions } from '../../core/usage.js';

const COLUMNS = 80;

/** Besides its own, any command can end with these. */
const COMMON_EXITS: NonNullable<Command['exits']> = {
  failed: 'any other failure',
  usage: 'the command line is wrong',
  notRunning: 'no daemon runs, and --no-autostart is set',
  cannotReach: 'the daemon cannot be reached',
  timeout: '--timeout is over',
};

/** All commands, in their groups. */
export function overview(): string {
  const groups = Object.entries(GROUPS);
  const width = Math.max(...groups.flatMap(([, lines]) => Object.keys(lines)).map((name) => name.length));
  return [
    'toolherd: keeps MCP servers alive and shares them among your agents.',
    '',
    'Usage: toolherd COMMAND [OPTIONS]',
    ...groups.flatMap(([title, lines]) => [
      '',
      `${title}:`,
      ...Object.entries(lines).map(([name, line]) => `  ${name.padEnd(width)}  ${line}`),
    ]),
    '',
    globalHelp(),
    '',
    "'toolherd help COMMAND' explains a command, with examples.",
  ].join('\n');
}

/** The help of one command. */
export function explain(command: Command): string {
  const { summary, details, options, examples } = command;
  const own = visibleOptions(options);
  const exits = exitLines(command);
  return [
    wrap(`Usage: toolherd ${usageOf(command)}`, '         '),
    summary,
    ...(details === undefined ? [] : [wrapLines(details)]),
    ...(own.length === 0 ? [] : [`Options:\n${optionLines(own)}`]),
    `Examples:\n${columns(examples.map((example) => (typeof example === 'string' ? [example] : example)))}`,
    ...(exits.length === 0 ? [] : [`Exit status:\n${columns(exits)}`]),
    wrap(
      `Options for every command: ${globalHeads()}. 'toolherd help' explains them, and the exit statuses of every command.`,
      '  ',
    ),
  ].join('\n\n');
}

/** Breaks the lines that are too long, such as a list of names that code made. */
export function wrapLines(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.length > COLUMNS ? wrap(line, '') : line))
    .join('\n');
}

/** Each exit status that the command declares, with its meaning. */
export function exitLines({ exits = {} }: Pick<Command, 'exits'>): [status: string, meaning: string][] {
  return Object.entries(EXIT).flatMap(([key, status]): [string, string][] => {
    const meaning = exits[key as keyof typeof EXIT];
    return meaning === undefined ? [] : [[String(status), meaning]];
  });
}

export function commonExitLines(): [status: string, meaning: string][] {
  return exitLines({ exits: COMMON_EXITS });
}

/** `-n, --lines N` */
export function optionHead([key, option]: [key: string, option: OptionDeclaration]): string {
  return `${option.short === undefined ? '' : `-${option.short}, `}${optionLabel(key, option)}`;
}

function globalHelp(): string {
  return [
    `Options for every command:\n${optionLines(visibleOptions(GLOBAL_OPTIONS))}`,
    `Exit status of every command, besides its own:\n${columns(commonExitLines())}`,
  ].join('\n\n');
}

function globalHeads(): string {
  return visibleOptions(GLOBAL_OPTIONS)
    .map(([key, option]) => optionLabel(key, option))
    .join(', ');
}

function optionLines(options: readonly [key: string, option: OptionDeclaration][]): string {
  return columns(options.map((entry) => [optionHead(entry), entry[1].about]));
}

/** Two columns; a row without a second cell may be longer than the first column. */
function columns(rows: readonly (readonly [string, string?])[]): string {
  const width = Math.max(...rows.flatMap(([first, second]) => (second === undefined ? [] : [first.length])));
  return rows
    .map(([first, second]) => `  ${second === undefined ? first : `${first.padEnd(width)}  ${second}`}`)
    .join('\n');
}

/** Breaks a line between words. */
function wrap(text: string, indent: string): string {
  // a bracket with a blank in it is one word
  const words = text.match(/\[[^\]]*\]\S*|\S+/g) ?? [];
  const lines = [''];
  for (const word of words) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > COLUMNS) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
