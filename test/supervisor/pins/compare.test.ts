import { describe, expect, test } from 'vitest';
import { compare, MOST_TOOLS } from '../../../src/supervisor/pins/compare.js';
import { canonical, changedFields, hashOf, pinIdentity } from '../../../src/supervisor/pins/fingerprint.js';
import {
  definitionIn,
  type PinRecord,
  readRecord,
  writeRecord,
} from '../../../src/supervisor/pins/record.js';
import { spec } from '../world.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-02-01T00:00:00.000Z';
const same = <T>(value: T): T => value;
const tool = (name: string, description = `what ${name} does`) => ({
  name,
  description,
  inputSchema: { type: 'object' },
});

function judged(record: PinRecord | undefined, tools: Record<string, unknown>[], isStrict = true, at = AT) {
  return compare({ record, tools, isStrict, isFresh: true, at, redact: same });
}

describe('the hash of a definition', () => {
  test('does not depend on the order of keys, at any depth', () => {
    const one = {
      name: 't',
      inputSchema: { type: 'object', properties: { a: { x: 1, y: [2, { p: 1, q: 2 }] } } },
    };
    const other = {
      inputSchema: { properties: { a: { y: [2, { q: 2, p: 1 }], x: 1 } }, type: 'object' },
      name: 't',
    };
    expect(hashOf(other)).toBe(hashOf(one));
    expect(canonical(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  });

  test.each([
    ['title', 'A title'],
    ['description', 'what t does '],
    ['inputSchema', { type: 'object', required: ['a'] }],
    ['outputSchema', { type: 'object' }],
    ['annotations', { readOnlyHint: true }],
  ])('changes with the %s, and changedFields names it', (field, value) => {
    const changed = { ...tool('t'), [field]: value };
    expect(hashOf(changed)).not.toBe(hashOf(tool('t')));
    expect(changedFields(tool('t'), changed)).toEqual([field]);
  });

  test('depends on the order in lists, and not on _meta and icons', () => {
    const inOrder = (required: string[]) => ({ name: 't', inputSchema: { type: 'object', required } });
    expect(hashOf(inOrder(['a', 'b']))).not.toBe(hashOf(inOrder(['b', 'a'])));
    expect(hashOf({ ...tool('t'), _meta: { at: 1 }, icons: [] })).toBe(hashOf(tool('t')));
  });

  test('is the same after the list was written to JSON and read back', () => {
    const odd = {
      name: 't',
      description: 'a\u2028\ud800"\\é',
      inputSchema: { default: -0, enum: [1.0, 1e21] },
    };
    expect(hashOf(JSON.parse(JSON.stringify(odd)))).toBe(hashOf(odd));
  });
});

describe('comparing tools with their pins', () => {
  const { record } = judged(undefined, [tool('a'), tool('b')]);

  test('pins the first list unchanged; an empty list does not count as the first', () => {
    expect([...record.values()].every(({ pinned, offered }) => pinned && !offered)).toBe(true);
    expect(judged(undefined, [])).toMatchObject({ isDirty: false, changed: [], added: [] });
    expect(judged(record, [tool('b'), tool('a')])).toMatchObject({ isDirty: false, changed: [], added: [] });
  });

  test('reports a changed tool once per change, and keeps its pin', () => {
    const first = judged(record, [tool('a', 'evil'), tool('b')], true, LATER);
    expect(first).toMatchObject({ isDirty: true, changed: ['a'], added: [] });
    expect(first.record.get('a')).toMatchObject({ pinned: { at: AT }, offered: { at: LATER } });
    expect(judged(first.record, [tool('a', 'evil'), tool('b')])).toMatchObject({
      isDirty: false,
      changed: [],
    });
    expect(judged(first.record, [tool('a', 'worse'), tool('b')]).changed).toEqual(['a']);
  });

  test('restores the old record of a tool that changed back', () => {
    const { record: changed } = judged(record, [tool('a', 'evil'), tool('b')]);
    const back = judged(changed, [tool('a'), tool('b')]);
    expect(back).toMatchObject({ isDirty: true, changed: [] });
    expect(back.record.get('a')).toEqual(record.get('a'));
  });

  test('reports a new tool, which waits for acceptance with enforce and is pinned at once without', () => {
    const strict = judged(record, [tool('a'), tool('b'), tool('c')]);
    expect(strict.added).toEqual(['c']);
    expect(strict.record.get('c')?.pinned).toBeUndefined();
    expect(judged(strict.record, [tool('a'), tool('b'), tool('c')]).added).toEqual([]);
    const lenient = judged(record, [tool('a'), tool('b'), tool('c')], false);
    expect(lenient.added).toEqual(['c']);
    expect(lenient.record.get('c')?.offered).toBeUndefined();
  });

  test('a cached list does not undo what another process offers', () => {
    const { record: changed } = judged(record, [tool('a', 'evil'), tool('b'), tool('c')]);
    const tools = [tool('a'), tool('b')];
    const options = { record: changed, tools, isStrict: true, isFresh: false, at: AT, redact: same };
    expect(compare(options)).toMatchObject({ isDirty: false, record: changed, waiting: new Map() });
  });

  test('keeps the pin of a tool that disappeared, and drops a new tool that disappeared before acceptance', () => {
    const { record: grown } = judged(record, [tool('a', 'evil'), tool('b'), tool('c')]);
    const gone = judged(grown, []);
    expect([...gone.record.keys()]).toEqual(['a', 'b']);
    expect(judged(gone.record, [tool('a', 'evil')]).changed).toEqual(['a']);
    expect(judged(gone.record, [tool('a')]).changed).toEqual([]);
  });

  test('limits tools, names and texts of a hostile server; hashes still detect each change', () => {
    const many = Array.from({ length: MOST_TOOLS + 5 }, (_, index) => tool(`t${index}`));
    const first = judged(undefined, [tool('x'.repeat(1000)), ...many]);
    expect(first.record.size).toBeLessThanOrEqual(MOST_TOOLS);
    expect(first.beyond.size).toBe(7);
    const others = Array.from({ length: 50 }, (_, index) => tool(`u${index}`));
    const second = judged(first.record, others, false);
    expect(second.record.get('t1')).toEqual(first.record.get('t1'));
    expect(second.record.size).toBeLessThanOrEqual(MOST_TOOLS);

    const large = Array.from({ length: 30 }, (_, index) => tool(`t${index}`, 'x'.repeat(300_000)));
    const { record: cut } = judged(undefined, large);
    const text = writeRecord('srv', cut);
    expect(text.length).toBeLessThan(6 * 2 ** 20);
    const again = readRecord(text);
    expect(judged(again, large)).toMatchObject({ isDirty: false, changed: [] });
    const end = large.map((one) => ({ ...one, description: `${one.description.slice(1)}y` }));
    expect(judged(again, end).changed).toHaveLength(30);
  });
});

describe('the record of a definition', () => {
  test('has all of a long definition, so that no difference is accepted unseen', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [
        `p${index}`,
        { type: 'string', description: 'x'.repeat(80) },
      ]),
    );
    const { record } = judged(undefined, [{ name: 'a', inputSchema: { type: 'object', properties } }]);
    const { pinned } = readRecord(writeRecord('srv', record)).get('a')!;
    expect(definitionIn(pinned!)).toMatchObject({ inputSchema: { properties } });
  });
});

describe('the identity of pins', () => {
  const mine = spec({ name: 'a', command: 'npx', args: ['-y', 'pkg@1'], cwd: '/p' });

  test.each([
    ['another name', { name: 'b' }],
    ['another command', { command: 'uvx' }],
    ['another version', { args: ['-y', 'pkg@2'] }],
    ['another folder', { cwd: '/q' }],
  ])('changes with %s', (_, change) => {
    expect(pinIdentity({ ...mine, ...change })).not.toBe(pinIdentity(mine));
  });

  test('stays with a new token, timeout or file: a changed tool cannot slip in with a renewed secret', () => {
    const other = {
      ...mine,
      env: { TOKEN: 'new' },
      requestTimeoutMs: 1,
      origin: { ...mine.origin, file: '/x' },
    };
    expect(pinIdentity(other)).toBe(pinIdentity(mine));
    const { command: _, args: __, cwd: ___, ...rest } = mine;
    const remote = { ...rest, transport: 'http', url: 'https://h/mcp?token=1', headers: { a: '1' } } as never;
    const renewed = { ...(remote as object), url: 'https://h/mcp?token=2', headers: { a: '2' } } as never;
    expect(pinIdentity(renewed)).toBe(pinIdentity(remote));
    expect(pinIdentity({ ...(remote as object), url: 'https://h/other' } as never)).not.toBe(
      pinIdentity(remote),
    );
  });

  test('exists for a disabled server whose url has unset variables', () => {
    const off = { ...mine, transport: 'http', enabled: false, url: `\${UNSET}/mcp?token=1` } as never;
    expect(pinIdentity(off)).toMatch(/^[\da-f]{64}$/);
    expect(pinIdentity({ ...(off as object), url: `\${UNSET}/mcp?token=2` } as never)).toBe(pinIdentity(off));
  });
});
