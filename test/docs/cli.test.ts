import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commonExitLines,
  exitLines,
  explain,
  optionHead,
  overview,
  wrapLines,
} from '../../src/cli/commands/help/help-text.js';
import { type Command, GLOBAL_OPTIONS, type OptionDeclaration } from '../../src/cli/core/command.js';
import { GROUPS } from '../../src/cli/core/command-names.js';
import { usageOf, visibleOptions } from '../../src/cli/core/usage.js';
import { expectRegion, markdownTable } from '../support/docs.js';

const COLUMNS = 80;
const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'cli', 'commands');

/** As the build finds them. */
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^[^/]+\/[^/]+\.ts$/.test(file))
  .filter((file) => /^export const commands?\b/m.test(readFileSync(join(FOLDER, file), 'utf8')));

const DECLARED = new Map<string, Command>();
for (const file of FILES) {
  const module = (await import(join(FOLDER, file))) as { command?: Command; commands?: Command[] };
  for (const command of module.commands ?? [module.command!]) DECLARED.set(command.name, command);
}

const fence = (text: string) => `\`\`\`\n${text}\n\`\`\``;
const cell = (text: string) => text.replaceAll('|', '\\|');

function optionTable(options: Readonly<Record<string, OptionDeclaration>>): string[] {
  const rows = visibleOptions(options).map((entry) => [
    `\`${cell(optionHead(entry))}\``,
    cell(entry[1].about),
  ]);
  return rows.length === 0 ? [] : [markdownTable(['option', 'what it does'], rows)];
}

/** The group `Help` has taken the anchor of the command `help`: GitHub numbers equal ones. */
const anchor = (name: string) =>
  Object.keys(GROUPS).some((title) => title.toLowerCase() === name) ? `${name}-1` : name;

function section(name: string): string {
  const command = DECLARED.get(name)!;
  const { summary, details, options, examples } = command;
  const exits = exitLines(command).map(([status, meaning]) => [status, cell(meaning)]);
  const lines = examples.map((one) => (typeof one === 'string' ? one : `${one[0]}   # ${one[1]}`));
  return [
    `### ${name}`,
    summary,
    fence(`toolherd ${usageOf(command)}`),
    ...(details === undefined ? [] : [fence(wrapLines(details))]),
    ...optionTable(options),
    fence(lines.join('\n')),
    ...(exits.length === 0 ? [] : [markdownTable(['exit status', 'meaning'], exits)]),
  ].join('\n\n');
}

describe('the commands', () => {
  it('are all declared, and stand in one group of the overview', () => {
    const listed = Object.values(GROUPS).flatMap((lines) => Object.keys(lines));
    expect([...DECLARED.keys()].sort()).toEqual(listed.sort());
  });

  it(`have no line of help with more than ${COLUMNS} columns`, () => {
    const texts = [overview(), ...[...DECLARED.values()].map(explain)];
    const long = texts.flatMap((text) => text.split('\n')).filter((line) => line.length > COLUMNS);
    expect(long).toEqual([]);
  });

  it('have no line of details whose last words alone would be on the next line', () => {
    const lines = [...DECLARED.values()].flatMap(({ details = '' }) => details.split('\n'));
    // a longer one is a list that is made, not written
    const isBroken = ({ length }: string) => length > COLUMNS && length < 1.5 * COLUMNS;
    expect(lines.filter(isBroken)).toEqual([]);
  });

  it('are documented in docs/CLI.md by their declarations (npm run docs)', () => {
    const groups = Object.entries(GROUPS).map(([title, lines]) =>
      [`## ${title}`, ...Object.keys(lines).map(section)].join('\n\n'),
    );
    const index = Object.entries(GROUPS).map(([title, lines]) => {
      const links = Object.keys(lines).map((name) => `[${name}](#${anchor(name)})`);
      return `- ${title}: ${links.join(', ')}`;
    });
    const globals = ['## Options for every command', ...optionTable(GLOBAL_OPTIONS)];
    const exits = [
      '## Exit status of every command',
      'Besides its own, any command can end with these.',
      markdownTable(['exit status', 'meaning'], commonExitLines()),
    ];
    expectRegion('docs/CLI.md', 'commands', [index.join('\n'), ...groups, ...globals, ...exits].join('\n\n'));
  });
});
