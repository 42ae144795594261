import { describe, expect, test } from 'vitest';
import { lines, sections } from '../../../src/supervisor/view/view-instructions.js';
import { settled, spec, World } from '../world.js';

/** Half of a surrogate pair. */
const HALF = /\p{Cs}/u;

const long = (server: string) => ({ server, text: `Does ${server}. ${'More words. '.repeat(1000)}` });

describe('the instructions of a herd', () => {
  test('have a section a server, and leave out servers that say nothing', () => {
    const told = [
      { server: 'a', text: 'Use a.' },
      { server: 'b', text: '' },
      { server: 'c', text: 'Use c.' },
    ];
    expect(sections(told)).toBe('# a\n\nUse a.\n\n# c\n\nUse c.');
    expect(lines(told)).toBe('- a: Use a.\n- c: Use c.\n- also: b');
  });

  test('give a short text whole and long ones an equal part of the rest', () => {
    const text = sections([long('a'), { server: 'b', text: 'Short.' }, long('c')]);
    const [a = '', b, c = ''] = text.split(/\n\n(?=# )/);
    expect(text.length).toBeLessThanOrEqual(4100);
    expect(b).toBe('# b\n\nShort.');
    expect(Math.abs(a.length - c.length)).toBeLessThan(20);
    expect(a.endsWith('[…]')).toBe(true);
  });

  test('have at least the first sentence of each of two hundred servers', () => {
    const told = Array.from({ length: 200 }, (_, at) => long(`server-${at}`));
    const text = sections(told);
    expect(told.every(({ server }) => text.includes(`# ${server}\n\nDoes ${server}.`))).toBe(true);
  });

  test('have at most 1,600 characters in lines, however many servers there are', () => {
    const told = Array.from({ length: 300 }, (_, at) => long(`server-${at}`));
    expect(lines(told).length).toBeLessThanOrEqual(1600);
    const silent = Array.from({ length: 900 }, (_, at) => ({ server: `server-${at}`, text: '' }));
    expect(lines(silent).length).toBeLessThanOrEqual(1600);
  });

  test('have no half of a surrogate pair where they are cut', () => {
    for (const pad of ['', 'x', 'xx', 'xxx']) {
      const told = Array.from({ length: 60 }, (_, at) => ({
        server: `s${at}`,
        text: pad + '😀'.repeat(9000),
      }));
      for (const some of [told.slice(0, 1), told.slice(0, 3), told.slice(0, 21), told]) {
        expect(sections(some)).not.toMatch(HALF);
        expect(lines(some)).not.toMatch(HALF);
      }
    }
  });

  test('skip a heading of Markdown in the line of a server', () => {
    expect(lines([{ server: 'a', text: '# Title\n\nDoes a. And more.' }])).toBe('- a: Does a.');
  });
});

test('instructions of a server that does not run come from the cache of an earlier herd', async () => {
  const kept = new Map<string, string>();
  const catalogs = {
    load: (identity: string) => JSON.parse(kept.get(identity) ?? 'null') ?? undefined,
    save: (identity: string, catalog: unknown) => void kept.set(identity, JSON.stringify(catalog)),
    prune: async () => undefined,
  };
  const first = new World();
  first.behaviour = () => ({
    opens: true,
    answers: true,
    instructions: 'Use me.',
    lists: { 'tools/list': [] },
  });
  const running = first.herd({ catalogs });
  running.apply([spec({})]);
  await running.view.catalog.tools('srv', true);
  await settled();
  expect(running.view.instructions({ server: 'srv', form: 'sections' })).toBe('Use me.');
  const next = new World();
  const herd = next.herd({ catalogs });
  herd.apply([spec({ start: 'lazy' })]);
  expect(herd.view.instructions({ form: 'sections' })).toBe('# srv\n\nUse me.');
  expect(next.links).toEqual([]);
});
