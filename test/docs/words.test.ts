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

/** `file:line` of what may stay. */
const ALLOWED: readonly string[] = [];

const FOLDERS = ['src', 'docs', 'scripts', 'bench', 'examples'];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
/** Built by examples and benchmarks. */
const GENERATED = /(^|\/)(node_modules|\.home)\//;

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|mjs|cjs|md)$/.test(name) && !GENERATED.test(name));
}

const FILES = [...PAGES, ...FOLDERS.flatMap(filesIn)].sort();
const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n');

test('texts name the actor', () => {
  const pattern = new RegExp(`\\b(${WORDS.join('|')})\\b`, 'i');
  const found = FILES.flatMap((file) =>
    linesOf(file).flatMap((line, index) => {
      const word = pattern.exec(line)?.[0];
      const place = `${file}:${index + 1}`;
      return word === undefined || ALLOWED.includes(place) ? [] : [`${place}: ${word}: ${line.trim()}`];
    }),
  );
  expect(found).toEqual([]);
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

/** Machines import no code. A name there is of the fallback of a start timeout that the link reports first. */
const UNQUOTED = /^src\/machines\//;

test('commands in texts quote the names of servers, so that they can be pasted', () => {
  const command =
    /toolherd (?:why|logs|tools|prompts|resources|pins|start|reset|auth|unregister|restart) \$\{(?!shellWord)/;
  const found = filesIn('src').flatMap((file) =>
    linesOf(file).flatMap((line, index) =>
      command.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
    ),
  );
  expect(found.filter((place) => !UNQUOTED.test(place))).toEqual([]);
});

test('the JavaScript of README.md imports what the package exports, and connects', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code ?? '');
  expect(blocks).toHaveLength(1);
  expect(blocks[0]).toMatch(/^import \{ connect \} from 'toolherd';$/m);
  expect(blocks[0]).toMatch(/await fleet\.call\(.*fleet\.close\(\);/s);
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
