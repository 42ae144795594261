import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lexer } from 'yaml';
import { parseJson } from '../../src/config/parse/parse-json.js';
import { parseYaml } from '../../src/config/parse/parse-yaml.js';
import { makeFolder } from '../support/folder.js';
import { LoaderChild } from './loader-child.js';
import {
  loadAgent,
  makeHerd,
  only,
  problemsOf,
  refusalOf,
  remoteAgent,
  remoteOf,
  stdioAgent,
} from './support.js';

const MIB = 1024 * 1024;
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

/** Nested lists and maps of the given depth, in each notation. */
const NESTED: Record<string, (levels: number) => string> = {
  'lists in brackets': (levels) => '['.repeat(levels) + ']'.repeat(levels),
  'maps in braces': (levels) => `${'{a: '.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`,
  'brackets over many lines': (levels) => '[\n '.repeat(levels) + ']'.repeat(levels),
  'maps by indentation': (levels) =>
    repeat(levels, (level) => `${' '.repeat(level)}a:${level === levels - 1 ? ' x' : ''}\n`),
  'lists by indentation': (levels) =>
    repeat(levels, (level) => `${' '.repeat(level * 2)}-${level === levels - 1 ? ' x' : ''}\n`),
  'compact lists': (levels) => `${'- '.repeat(levels)}x`,
  'lists under their keys': (levels) =>
    repeat(levels / 2, (level) => `${' '.repeat(level * 2)}a:\n${' '.repeat(level * 2)}- `)
      .replaceAll(/- +a:/g, '- a:')
      .concat('x'),
  'explicit keys': (levels) =>
    repeat(
      levels,
      (level) =>
        `${' '.repeat(level * 2)}? a\n${' '.repeat(level * 2)}: ${level === levels - 1 ? 'x' : ''}\n`,
    ),
  'brackets in lists': (levels) =>
    `${'- '.repeat(levels / 2)}${'['.repeat(levels - levels / 2)}${']'.repeat(levels - levels / 2)}`,
};

const DEEP: [name: string, text: string][] = [
  ['850 brackets', '['.repeat(850)],
  ['850 brackets that are closed', '['.repeat(425) + ']'.repeat(425)],
  ['a million brackets', '['.repeat(MIB)],
  ['braces', '{a: '.repeat(5000)],
  ['braces without keys', '{'.repeat(5000)],
  ['brackets and braces', '[{a: '.repeat(5000)],
  ['compact lists', `${'- '.repeat(20_000)}x`],
  ['compact lists with tabs', `${'-\t'.repeat(20_000)}x`],
  ['explicit keys', '? '.repeat(20_000)],
  ['explicit keys and lists', '? - '.repeat(20_000)],
  ['empty keys', ': '.repeat(20_000)],
  ['maps by indentation', repeat(1000, (level) => `${' '.repeat(level)}a:\n`)],
  ['brackets as keys', `${'? ['.repeat(3000)}`],
  ['brackets in a value of ours', stdioAgent(`config: {a: ${'['.repeat(3000)}`)],
  ['brackets behind a byte order mark', `\uFEFF${'['.repeat(3000)}`],
  ['brackets behind a comment', `# fine\n${'['.repeat(3000)}`],
  ['brackets in a second document', `tools: []\n---\n${'['.repeat(3000)}`],
];

const BOMBS: [name: string, text: string][] = [
  [
    'a billion laughs',
    `a: &a [lol]\n${repeat(9, (i) => `${'bcdefghij'[i]}: &${'bcdefghij'[i]} [${`*${'abcdefghi'[i]},`.repeat(9)}]\n`)}`,
  ],
  ['doublings', `a0: &a0 x\n${repeat(45, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`)}`],
  [
    'maps of maps',
    `a: &a {x: 1, y: 2}\n${repeat(9, (i) => `m${i}: &m${i} {${[...'pqrstuvwx'].map((k) => `${k}: *${i === 0 ? 'a' : `m${i - 1}`}`).join(', ')}}\n`)}`,
  ],
  ['a list in itself', 'a: &a [*a]\n'],
  ['a list in itself, many times', 'a: &a [*a, *a, *a, *a, *a, *a, *a, *a]\n'],
  ['a map in itself', 'a: &a {b: *a, c: *a}\n'],
  ['a map that merges itself', 'a: &a {<<: *a}\n'],
  ['two lists in each other', 'a: &a [&b [*a, *b]]\n'],
  ['more than a hundred aliases', `a: &a x\nb: [${'*a, '.repeat(101)}]\n`],
  ['wide lists, copied', `a: &a [${'x,'.repeat(20_000)}]\nb: [${'*a,'.repeat(90)}]\n`],
  ['wide maps, merged', `a: &a {${repeat(8000, (i) => `k${i},`)}}\nb: [${'{<<: *a},'.repeat(60)}]\n`],
];

const FLOODS: [name: string, text: string][] = [
  [
    'twenty thousand unknown fields',
    `tools:\n  - {name: a, type: mcp, server: s, command: npx, ${repeat(20_000, (i) => `field_number_${i},`)}}\n`,
  ],
  ['twenty thousand empty variables', stdioAgent(`env: {${repeat(20_000, (i) => `A${i},`)}}`)],
  ['twenty thousand numbers', stdioAgent(`args: [${'1,'.repeat(20_000)}]`)],
  [
    'twenty thousand unset variables',
    stdioAgent(`args: [${repeat(20_000, (i) => `"\${SOME_VARIABLE_${i}}",`)}]`),
  ],
  ['one unset variable two hundred thousand times', stdioAgent(`args: ["${'${A}'.repeat(200_000)}"]`)],
  ['two hundred thousand malformed references', stdioAgent(`args: ["${'${1}'.repeat(200_000)}"]`)],
  ['half a million unknown escapes', `a: "${'\\q'.repeat(500_000)}"`],
  ['a hundred thousand characters beyond Unicode', `a: "${'\\UFFFFFFFF'.repeat(100_000)}"`],
  ['fifty thousand commas', `a: [${','.repeat(49_000)}`],
];

describe('C2: one process refuses every hostile file twice and survives', () => {
  let loader: LoaderChild;
  beforeAll(async () => {
    loader = await LoaderChild.start();
  });
  afterAll(async () => {
    expect(await loader.stop()).toBe(0);
  });

  async function refusedTwice(text: string, withinMs: number): Promise<string> {
    const file = join(makeFolder({ 'agent.yaml': text }), 'agent.yaml');
    const first = await loader.load(file);
    const second = await loader.load(file);
    for (const answer of [first, second]) {
      expect(answer).toHaveProperty('message');
      expect(answer.ms).toBeLessThan(withinMs);
    }
    expect(second.message).toBe(first.message);
    expect(loader.isAlive).toBe(true);
    return first.message ?? '';
  }

  it.each(DEEP)('deep: %s', async (_, text) => {
    expect(await refusedTwice(text, 1000)).toMatch(/Nested deeper than 64 levels|more than one document/);
  });

  it.each(BOMBS)('aliases: %s', async (_, text) => {
    expect(await refusedTwice(text, 5000)).toMatch(/aliases|Nested deeper/);
  });

  it.each([
    ['a file over 1 MiB', `# ${'x'.repeat(MIB)}`, 'larger than 1 MiB'],
    ['a file of line breaks', '\n'.repeat(MIB), 'YAML tokens'],
    ['too many tokens', `a: [${'b,'.repeat(25_000)}]`, 'YAML tokens'],
  ])('large: %s', async (_, text, message) => {
    expect(await refusedTwice(text, 3000)).toContain(message);
  });

  it.each(FLOODS)('more problems than anyone can read: %s', async (_, text) => {
    await refusedTwice(text, 8000);
  });

  it.each([
    ['an agent file', '', 'agent.yaml'],
    ['an envFile', stdioAgent('envFile: pipe'), 'pipe'],
    ['a manifest', stdioAgent('plugin_dir: p'), 'p/plugin.json'],
  ])('a pipe is not waited for: %s', async (_, text, pipe) => {
    const folder = makeFolder({ 'p/x': '', ...(text === '' ? {} : { 'agent.yaml': text }) });
    execFileSync('mkfifo', [join(folder, pipe)]);
    const answer = await loader.load(join(folder, 'agent.yaml'));
    expect(answer.message).toContain('is not a regular file');
  });

  it('the process loads a good file after them', async () => {
    const file = join(makeFolder({ 'agent.yaml': stdioAgent('args: ["${SET}"]') }), 'agent.yaml');
    expect(await loader.load(file)).toMatchObject({ servers: 1 });
  });
});

describe('C2: the limits are exact', () => {
  const refused = 'Nested deeper than 64 levels';

  it.each(Object.entries(NESTED))('64 levels are read, 65 are not: %s', (name, make) => {
    const isEven = ['lists under their keys', 'brackets in lists'].includes(name);
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    expect(depth(parseYaml('f', make(64)).value)).toBe(64);
    expect(() => parseYaml('f', make(isEven ? 66 : 65))).toThrow(refused);
  });

  it('the limits hold for JSON', () => {
    expect(() => parseJson('f', '['.repeat(64) + ']'.repeat(64))).not.toThrow();
    expect(() => parseJson('f', '['.repeat(65) + ']'.repeat(65))).toThrow(refused);
    expect(() => parseJson('f', '{"a":'.repeat(100_000))).toThrow(refused);
    expect(() => parseJson('f', ' '.repeat(MIB + 1))).toThrow('larger than 1 MiB');
  });

  it('the depth of an alias counts', () => {
    const half = '['.repeat(40) + ']'.repeat(40);
    expect(() => parseYaml('f', `a: &a ${half}\nb: *a\n`)).not.toThrow();
    expect(() => parseYaml('f', `a: &a ${half}\nb: ${'['.repeat(40)}*a${']'.repeat(40)}\n`)).toThrow(refused);
  });

  it('a file of 1 MiB is read, and one byte more is not, also with two-byte characters', async () => {
    const full = (size: number, letter: string) => {
      const text = `${stdioAgent()}#`;
      const room = size - Buffer.byteLength(text);
      return (
        text +
        letter.repeat(Math.floor(room / Buffer.byteLength(letter))) +
        'x'.repeat(room % Buffer.byteLength(letter))
      );
    };
    expect((await loadAgent(full(MIB, 'x'))).servers).toHaveLength(1);
    expect((await loadAgent(full(MIB, 'é'))).servers).toHaveLength(1);
    for (const letter of ['x', 'é']) {
      const [problem] = await problemsOf({ agent: full(MIB + 1, letter) });
      expect(problem).toMatchObject({ message: `${problem?.file} is larger than 1 MiB`, line: 1, column: 1 });
    }
  });

  it('a file of 49,999 tokens is read', async () => {
    const tokens = (text: string) =>
      [...new Lexer().lex(text)].filter((token) => !/^[\x02\x18\x1f]$/.test(token)).length;
    const most = `${stdioAgent()}others: [${'a,'.repeat(24_960)}]\n`;
    const text = most + '\n'.repeat(49_999 - tokens(most));
    expect(tokens(text)).toBe(49_999);
    expect((await loadAgent(text)).servers).toHaveLength(1);
    expect((await problemsOf({ agent: `${text}\n\n` }))[0]?.message).toContain('50000 YAML tokens');
  });

  it('a hundred aliases are read', async () => {
    const agent = `base: &v value\n${stdioAgent(`args: [${'*v,'.repeat(100)}]`)}`;
    expect(only(await loadAgent(agent))).toMatchObject({ args: Array(100).fill('value') });
  });

  it('asterisks in texts are not aliases', async () => {
    const agent = stdioAgent(
      `args: [${'"*", '.repeat(200)}]`,
      'env:',
      '  A: |-',
      ...Array(150).fill('    *x'),
    );
    expect((await loadAgent(agent)).servers).toHaveLength(1);
  });
});

describe('C2: bytes that are not UTF-8', () => {
  it.each([
    ['a lone continuation byte', Buffer.from([0x61, 0x3a, 0x20, 0x80])],
    ['a cut character', Buffer.from([0x61, 0x3a, 0x20, 0xe2, 0x82])],
    ['an overlong slash', Buffer.from([0x61, 0x3a, 0x20, 0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0x61, 0x3a, 0x20, 0xed, 0xa0, 0x80])],
    ['Latin-1', Buffer.from('name: café', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFtools: []', 'utf16le')],
  ])('%s is refused', async (_, bytes) => {
    const herd = makeHerd({ agent: '' });
    writeFileSync(herd.agentFile, bytes);
    const { problems } = await refusalOf(herd.load());
    expect(problems).toMatchObject([
      { message: `${herd.agentFile} is not valid UTF-8`, file: herd.agentFile },
    ]);
  });

  it('a literal U+FFFD is accepted', async () => {
    expect(only(await loadAgent(stdioAgent('args: ["\uFFFD"]')))).toMatchObject({ args: ['\uFFFD'] });
  });

  it('a byte order mark is not part of the first line', async () => {
    expect((await loadAgent(`\uFEFF${stdioAgent()}`)).servers).toHaveLength(1);
    expect(await problemsOf({ agent: '\uFEFFtools: x' })).toMatchObject([{ line: 1, column: 8 }]);
  });
});

describe('C2: paths that are not regular files', () => {
  it.each(['/dev/zero', '/dev/null', '/dev/stdin'])('a device is refused: %s', async (device) => {
    const herd = makeHerd({});
    symlinkSync(device, herd.agentFile);
    const { problems } = await refusalOf(herd.load({ agentFile: herd.agentFile }));
    expect(problems).toHaveLength(1);
  });

  it('a folder is refused, and so is a name that is too long', async () => {
    const herd = makeHerd({});
    await expect(herd.load({ agentFile: herd.project })).rejects.toThrow('is a folder');
    await expect(herd.load({ agentFile: join(herd.project, 'x'.repeat(5000)) })).rejects.toThrow(
      'could not be read',
    );
  });

  it('the same holds for an envFile and a manifest', async () => {
    const big = 'x'.repeat(MIB + 1);
    for (const [line, file] of [
      ['envFile: big', 'project/big'],
      ['plugin_dir: p', 'project/p/plugin.json'],
    ] as const) {
      const [problem] = await problemsOf({ agent: stdioAgent(line), files: { [file]: big } });
      expect(problem?.message).toContain('larger than 1 MiB');
    }
  });
});

describe('C2: names of Object.prototype properties are data', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'];
  const pairs = (value: string) => NAMES.map((name) => [name, value]);
  const yaml = `{${NAMES.map((name) => `${name}: polluted`).join(', ')}}`;

  it('env and config accept such names as keys', async () => {
    const server = only(
      await loadAgent(stdioAgent(`env: ${yaml}`, `config: {a: ${yaml}, __proto__: ${yaml}}`)),
    );
    expect(Object.entries(server.env)).toEqual(pairs('polluted'));
    expect(Object.entries(server.config?.a as object)).toEqual(pairs('polluted'));
    expect(Object.keys(server.config ?? {})).toEqual(['a', '__proto__']);
  });

  it('headers accept such names as keys', async () => {
    const server = remoteOf(await loadAgent(remoteAgent('http', `headers: ${yaml}`)));
    expect(Object.entries(server.headers)).toEqual(pairs('polluted'));
  });

  it('an envFile accepts such names except __proto__, which dotenv cannot represent', async () => {
    const files = {
      'project/.env': NAMES.slice(1)
        .map((name) => `${name}=polluted\n`)
        .join(''),
    };
    const server = only(await loadAgent(stdioAgent('envFile: .env'), { files }));
    expect(Object.entries(server.env)).toEqual(pairs('polluted').slice(1));
    expect(
      await problemsOf({ agent: stdioAgent('envFile: .env'), files: { 'project/.env': '__proto__=x' } }),
    ).toHaveLength(1);
  });

  it('they change no object', async () => {
    await loadAgent(
      `__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\n${stdioAgent(`config: {__proto__: {polluted: 1}}`)}`,
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
