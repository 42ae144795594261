import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linesBackwards, type PlacedLine } from '../../src/log/read-backwards.js';
import { makeFolder } from '../support/folder.js';

async function read(path: string, before?: string): Promise<PlacedLine[]> {
  const all: PlacedLine[] = [];
  for await (const lines of linesBackwards(path, before)) all.push(...lines);
  return all;
}

const texts = (lines: readonly PlacedLine[]) => lines.map(({ text }) => text);
const numbered = (from: number, to: number, size = 0) =>
  Array.from({ length: to - from }, (_, index) => `${from + index} ${'é'.repeat(size)}`);

describe('lines of a rotating file, backwards', () => {
  test('come from the newest to the oldest, through all files and any chunk', async () => {
    const path = join(makeFolder({}), 'a.log');
    writeFileSync(`${path}.2`, `${numbered(0, 10).join('\n')}\n`);
    writeFileSync(`${path}.1`, `${numbered(10, 2000, 100).join('\n')}\n`);
    writeFileSync(path, `${numbered(2000, 2001, 200_000).join('\n')}\n${numbered(2001, 2003).join('\n')}`);
    const lines = texts(await read(path));
    expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(
      Array.from({ length: 2003 }, (_, index) => 2002 - index),
    );
    expect(lines[2]).toHaveLength(200_005);
  });

  test('no file: no lines', async () => {
    expect(await read(join(makeFolder({}), 'none.log'))).toEqual([]);
  });

  test('reading goes on before a line, also when the file was rotated meanwhile', async () => {
    const path = join(makeFolder({}), 'a.log');
    writeFileSync(`${path}.1`, 'a\nb\n');
    writeFileSync(path, 'c\nd\ne\n');
    const place = (await read(path)).find(({ text }) => text === 'd')!.place;
    expect(texts(await read(path, place))).toEqual(['c', 'b', 'a']);
    renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'f\n');
    appendFileSync(`${path}.1`, 'late\n');
    expect(texts(await read(path, place))).toEqual(['c', 'b', 'a']);
    expect(await read(path, '1-1')).toEqual([]);
    expect(await read(path, 'nonsense')).toEqual([]);
  });
});
