import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/run.js';

/** Words that hide who does something. Comments, help, errors and pages name the actor instead. */
const WORDS = [
  'whoever',
  'somebody',
  'nobody',
  'everybody',
  'anybody',
  'told of',
  'of its own',
  'by itself',
] as const;

/** Names that parts of toolherd had once. docs/GLOSSARY.md has the present ones. */
const OLD_NAMES = ['manners', 'surroundings'] as const;

/** This file has the words themselves. */
const OWN_FILE = 'test/docs/words.test.ts';

const FOLDERS = ['src', 'test', 'docs', 'scripts', 'bench', 'examples'];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
/** Built by examples and benchmarks. */
const GENERATED = /(^|\/)(node_modules|\.home)\//;

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|mjs|cjs|md)$/.test(name) && !GENERATED.test(name));
}

const FILES = [...PAGES, ...FOLDERS.flatMap(filesIn)].filter((file) => file !== OWN_FILE).sort();
const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n');

/** `file:line: word: line` of each line that has one of the words. */
function linesWith(words: readonly string[]): string[] {
  const pattern = new RegExp(`\\b(${words.join('|')})\\b`, 'i');
  return FILES.flatMap((file) =>
    linesOf(file).flatMap((line, index) => {
      const word = pattern.exec(line)?.[0];
      return word === undefined ? [] : [`${file}:${index + 1}: ${word}: ${line.trim()}`];
    }),
  );
}

test('texts name the actor', () => {
  expect(linesWith(WORDS)).toEqual([]);
});

test('texts and names have the words of the glossary', () => {
  expect(linesWith(OLD_NAMES)).toEqual([]);
});

/** A title that begins so is the rest of another sentence: a list of failures does not show that sentence. */
const CONNECTIVES =
  'also and as at because but by for from if in not nowhere of on or over so then to until while with without'.split(
    ' ',
  );
const MAX_TITLE = 110;
/** The title of each `it` and `test`, also after `.each(…)` and `.runIf(…)`. */
const TITLE = /\b(?:it|test)(?:(?:\.\w+)+\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
/** `P4: `, `I2 I10: `: the requirements that a test proves. */
const CITED = /^(?:[A-Z]{1,2}-?[\d.]+:? )*/;

const TITLES = filesIn('test')
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...linesOf(file).join('\n').matchAll(TITLE)].map(([, , title = '']) => ({ file, title })),
  );

test('titles of tests are whole laws, not the rest of a sentence', () => {
  expect(TITLES.length).toBeGreaterThan(2000);
  const first = (title: string) => /^\w+/.exec(title.replace(CITED, ''))?.[0]?.toLowerCase() ?? '';
  const found = TITLES.filter(({ title }) => CONNECTIVES.includes(first(title)));
  expect(found.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
});

test(`titles of tests have at most ${MAX_TITLE} characters`, () => {
  const found = TITLES.filter(({ title }) => title.length > MAX_TITLE);
  expect(found.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
});

/** Prose is British. Names of code and of protocols keep their spelling, in code spans; OAuth has authorization servers, HTTP a header. */
const AMERICAN =
  /\b\w*(?:authoriz|normaliz|serializ|recogniz|optimiz|organiz|summariz|minimiz|synchroniz|analyz|behavior|favor|honor|neighbor|color|canceled)\w*/i;
const NAMES = /`[^`]*`|\]\([^)]*\)|\S*[/@]\S*|\b[A-Z_]{4,}\b|authorization servers?|\bAuthorization\b/g;

/** The lines of a page outside of its code blocks, or the comments of a source, without names. */
function proseOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const lines = file.endsWith('.md')
    ? text.replace(/^```.*?^```/gms, (block) => block.replace(/[^\n]/g, '')).split('\n')
    : text.split('\n').map((line) => /^\s*(?:\/\*\*|\*|\/\/) (.*)/.exec(line)?.[1] ?? '');
  return lines.map((line) => line.replace(NAMES, ''));
}

test('prose is spelled the British way', () => {
  const found = FILES.flatMap((file) =>
    proseOf(file).flatMap((line, index) => {
      const word = AMERICAN.exec(line)?.[0];
      return word === undefined ? [] : [`${file}:${index + 1}: ${word}`];
    }),
  );
  expect(found).toEqual([]);
});

test('commands in texts quote the names of servers, so that they can be pasted', () => {
  const command =
    /toolherd (?:why|logs|tools|prompts|resources|pins|start|reset|auth|unregister|restart) \$\{(?!shellWord)/;
  const found = filesIn('src').flatMap((file) =>
    linesOf(file).flatMap((line, index) =>
      command.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
    ),
  );
  expect(found).toEqual([]);
});

test('pages name only source files that exist', () => {
  const sources = ['src', 'test', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join('/', folder, name),
    ),
  );
  const found = FILES.filter((file) => file.endsWith('.md')).flatMap((file) =>
    linesOf(file).flatMap((line, index) =>
      [...line.matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)].flatMap(([, path = '']) => {
        // TOPIC/NAME.ts stands for any file
        const isPlaceholder = /(^|\/)[A-Z]+\.ts$/.test(path);
        const exists = isPlaceholder || sources.some((source) => source.endsWith(`/${path}`));
        return exists ? [] : [`${file}:${index + 1}: ${path}`];
      }),
    ),
  );
  expect(found).toEqual([]);
});
