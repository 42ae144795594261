import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../src/machines');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

describe('the machines are pure', () => {
  test('no clock, no chance and no timer but those that are handed in', () => {
    // `process.ended` in quotes is the name of an event
    const impure =
      /\bDate\b|Math\.random|performance\.|\bsetTimeout\b|\bsetInterval\b|(?<!['`])\bprocess\.\w|\bconsole\./;
    expect(sources.filter(({ text }) => impure.test(text)).map(({ file }) => file)).toEqual([]);
    expect(sources.length).toBeGreaterThan(8);
  });

  test('they import XState, each other and for pictures the layout library; from elsewhere types only', () => {
    const imports = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:import|export) (type )?[^;]*? from '([^']+)';/gm)].map(
        ([, type, from = '']) => ({ file, type, from }),
      ),
    );
    const foreign = imports.filter(
      ({ file, from, type }) =>
        !(
          from === 'xstate' ||
          (file === 'chart-layout.ts' && from === '@dagrejs/dagre') ||
          /^\.\/|^\.\.\/[^.]/.test(from) ||
          type
        ),
    );
    expect(foreign).toEqual([]);
    expect(imports.length).toBeGreaterThan(20);
  });
});
