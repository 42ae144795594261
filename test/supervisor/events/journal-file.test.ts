import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpSpec } from '../../../src/config/fields/spec.js';
import type { JournalEntry } from '../../../src/fleet/fleet.js';
import { JournalFile, type JournalStore } from '../../../src/supervisor/events/journal-file.js';
import { makeFolder } from '../../support/folder.js';
import { settled, spec, World } from '../world.js';

const entry = (to: string, cause = 'start was ordered'): JournalEntry => ({
  at: '2026-11-18T12:00:00.000Z',
  incarnation: 1,
  chart: 'keeper',
  from: 'idle',
  to,
  event: 'start',
  cause,
});

function begin() {
  const { clock } = new World();
  const file = join(makeFolder(), 'state', 'journal.json');
  return { clock, file, open: () => new JournalFile(file, clock) };
}

describe('the stored journals', () => {
  test('a later daemon recalls what an earlier one kept, marked as earlier', () => {
    const { open } = begin();
    const store = open();
    store.keep('a', [entry('running')]);
    store.close();
    expect(open().recall('a')).toEqual([{ ...entry('running'), earlier: true }]);
    expect(open().recall('b')).toEqual([]);
  });

  test('are written soon after a change, not only when the daemon ends', () => {
    const { clock, open } = begin();
    open().keep('a', [entry('running')]);
    expect(open().recall('a')).toEqual([]);
    clock.advance(1000);
    expect(open().recall('a')).toHaveLength(1);
  });

  test('are written every 10 s at most while they change', () => {
    const { clock, open } = begin();
    const store = open();
    const entries = [entry('running')];
    const counts = Array.from({ length: 22 }, () => {
      store.keep('a', entries);
      clock.advance(1000);
      entries.push(entry('waiting'));
      return open().recall('a').length;
    });
    expect([...new Set(counts)]).toEqual([1, 11, 21]);
  });

  test('a write makes the text of a changed journal only', () => {
    const { open } = begin();
    const store = open();
    let read = 0;
    const watched = Object.defineProperty(entry('running'), 'event', {
      enumerable: true,
      get: () => {
        read += 1;
        return 'start';
      },
    });
    store.keep('a', [watched]);
    store.close();
    const once = read;
    store.keep('b', [entry('running')]);
    store.close();
    expect([once > 0, read]).toEqual([true, once]);
    store.keep('a', [watched, entry('waiting')]);
    store.close();
    expect(open().recall('a')).toHaveLength(2);
    expect(open().recall('b')).toHaveLength(1);
  });

  test('are in a file that only its owner can read', () => {
    const { open, file } = begin();
    const store = open();
    store.keep('a', [entry('running')]);
    store.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('have a limit: 50 entries of a server, 200 servers, 1000 characters of a cause', () => {
    const { open } = begin();
    const store = open();
    store.keep(
      'many',
      Array.from({ length: 300 }, (_, index) => entry(`state${index}`, 'x'.repeat(5000))),
    );
    for (let index = 0; index < 199; index += 1) store.keep(`server${index}`, [entry('running')]);
    store.close();
    const many = open().recall('many');
    expect(many).toHaveLength(50);
    expect(many.at(-1)).toMatchObject({ to: 'state299', cause: 'x'.repeat(1000) });
    store.keep('one more', [entry('running')]);
    store.close();
    expect(open().recall('many')).toEqual([]);
    expect(open().recall('server0')).toHaveLength(1);
  });

  test.each(['', '{"version": 1, "journals": {"a": [{"at"', 'null', '{"version":1,"journals":{"a":[7,{}]}}'])(
    'a torn or foreign file counts as empty, and the next write replaces it: %s',
    (text) => {
      const { open, file } = begin();
      const store = open();
      store.keep('b', [entry('running')]);
      store.close();
      writeFileSync(file, text);
      const next = open();
      expect(next.recall('a')).toEqual([]);
      next.keep('a', [entry('running')]);
      next.close();
      expect(JSON.parse(readFileSync(file, 'utf8')).journals.a).toHaveLength(1);
    },
  );

  test('a herd begins the journal of each server with the earlier one', async () => {
    const { open } = begin();
    const kinds = (herd: ReturnType<World['herd']>) =>
      herd.view.inspect('srv').journal.map(({ kind, earlier }) => `${earlier ? 'earlier ' : ''}${kind}`);
    const world = new World();
    world.behaviour = () => ({ opens: true });
    const journals = open();
    const herd = world.herd({ journals });
    herd.apply([spec()]);
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    expect(kinds(herd)).toContain('ready');
    journals.close();

    const second = new World().herd({ journals: open() });
    second.apply([spec()]);
    expect(kinds(second)).toContain('earlier ready');
    expect(second.view.inspect('srv').journal.every(({ earlier }) => earlier === true)).toBe(true);
    expect(second.view.status()[0]).toMatchObject({ detail: 'idle' });
  });

  const perFolder = spec({ sharing: 'per-folder' });
  test.each([perFolder, { ...perFolder, transport: 'http', headers: {} } as unknown as HttpSpec])(
    'the servers of two folders have a journal each: $transport',
    (one) => {
      const ids: string[] = [];
      const journals: JournalStore = {
        recall: (id) => {
          ids.push(id);
          return [];
        },
        keep: () => {},
      };
      const herd = new World().herd({ journals });
      herd.apply([one]);
      for (const folder of ['/one', '/two']) herd.view.fork(folder, null, folder);
      expect(new Set(ids).size).toBe(3);
    },
  );
});
