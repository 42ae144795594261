import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOMS, type Room } from './rooms.js';
import { expectRegion, markdownTable } from './support/docs.js';

const SRC = join(import.meta.dirname, '..', 'src');
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:([\w*{}\s,$]+?)\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
/** A folder with more files has an inner structure that it does not show. */
const MOST_FILES = 24;

interface Import {
  file: string;
  /** The folder it stands in, below src. */
  from: string;
  /** The folder of what it imports, or the package. */
  to: string;
  isPackage: boolean;
  isType: boolean;
}

const folderOf = (path: string): string => relative(SRC, dirname(path)) || '.';
const roomOf = (folder: string): string => folder.split('/')[0] ?? '';
const insideOf = (folder: string): string => folder.split('/').slice(1).join('/') || '.';

/** `{ type A, type B }` imports no code either. */
function areTypes(names: string | undefined): boolean {
  const inBraces = names?.match(/^\{([^}]*)\}$/)?.[1];
  return inBraces?.split(',').every((name) => /^\s*(type\s|$)/.test(name)) ?? false;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map(([, type, names, from, dynamic]) => {
    const name = from ?? dynamic ?? '';
    const isPackage = !name.startsWith('.');
    const to = isPackage
      ? name.startsWith('node:')
        ? 'node'
        : name.replace(/^(@[^/]+\/[^/]+|[^/]+).*/, '$1')
      : folderOf(resolve(dirname(file), name));
    const isType = type !== undefined || areTypes(names?.trim());
    return { file: relative(SRC, file), from: folderOf(file), to, isPackage, isType };
  });
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(SRC, name));
const FOLDERS = [...new Set(FILES.map(folderOf))];
const IMPORTS = FILES.flatMap(importsOf);
const BY_NAME = new Map(ROOMS.map((room) => [room.name, room]));

function mayImport({ from, to, isPackage, isType }: Import): boolean {
  const room = BY_NAME.get(roomOf(from));
  if (room === undefined) return false;
  const { imports, types = [], packages = [], typePackages = [] } = room;
  if (isPackage) return packages.includes(to) || (isType && typePackages.includes(to));
  if (roomOf(to) !== room.name) return imports.includes(roomOf(to)) || (isType && types.includes(roomOf(to)));
  return isType || from === to || rank(room, to) < rank(room, from);
}

/** The place of a subfolder in its room's order. */
function rank(room: Room, folder: string): number {
  return room.inside?.findIndex(([name]) => name === insideOf(folder)) ?? -1;
}

const listed = (names: readonly string[] = []) => names.map((name) => `\`${name}\``).join(' ');

function table(): string {
  const rows = ROOMS.flatMap(({ name, does, imports, types, inside = [] }) => [
    [
      name === '.' ? 'src' : `**src/${name}**`,
      does,
      [listed(imports), types === undefined ? '' : `types of ${listed(types)}`].filter(Boolean).join('; '),
    ],
    ...inside.filter(([folder]) => folder !== '.').map(([folder, task]) => [`${name}/${folder}`, task, '']),
  ]);
  return markdownTable(['folder', 'what it does', 'uses code of'], rows);
}

describe('the rooms of src', () => {
  it('every folder is a known room, and every known room exists', () => {
    const known = ROOMS.flatMap(({ name, inside = [['.', '']] }) =>
      inside.map(([folder]) => (folder === '.' ? name : `${name}/${folder}`)),
    );
    expect(FOLDERS.sort()).toEqual(known.sort());
  });

  it('a room is listed after every room whose code it uses', () => {
    const names = ROOMS.map(({ name }) => name);
    const wrong = ROOMS.flatMap(({ name, imports }, index) =>
      imports.filter((other) => !names.slice(0, index).includes(other)).map((other) => `${name} -> ${other}`),
    );
    expect(wrong).toEqual([]);
  });

  it('every file imports only what its room may', () => {
    const wrong = IMPORTS.filter((one) => !mayImport(one));
    expect(wrong.map(({ file, to, isType }) => `${file} imports ${isType ? 'types of ' : ''}${to}`)).toEqual(
      [],
    );
  });

  it('a room names no room and no package that it does not use', () => {
    const unused = ROOMS.flatMap(({ name, imports, types = [], packages = [], typePackages = [] }) => {
      const used = new Set(
        IMPORTS.filter(({ from }) => roomOf(from) === name).map(({ to, isPackage }) =>
          isPackage ? to : roomOf(to),
        ),
      );
      return [...imports, ...types, ...packages, ...typePackages]
        .filter((other) => !used.has(other))
        .map((other) => `${name}: ${other}`);
    });
    expect(unused).toEqual([]);
  });

  it('no folder is a list of more than two dozen files', () => {
    const count = (folder: string) => FILES.filter((file) => folderOf(file) === folder).length;
    expect(FOLDERS.filter((folder) => count(folder) > MOST_FILES)).toEqual([]);
  });

  it('the table in ARCHITECTURE.md is this list (npm run docs)', () => {
    expectRegion('docs/ARCHITECTURE.md', 'rooms', table());
  });
});

describe('what tests import', () => {
  it('has no hook at its top: files share a process, and only the first of them would have it', () => {
    const folder = import.meta.dirname;
    const shared = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    const hook = /^(?:before|after)(?:Each|All)\(/m;
    expect(shared.length).toBeGreaterThan(10);
    expect(shared.filter((name) => hook.test(readFileSync(join(folder, name), 'utf8')))).toEqual([]);
  });
});
