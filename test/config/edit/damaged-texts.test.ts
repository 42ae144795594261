import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertOneEntryChanged } from '../../../src/config/edit/assert-one-entry-changed.js';
import { addEntry, applyEdit, findEntries, removeEntry } from '../../../src/config/edit/index.js';
import { ConfigError } from '../../../src/config/parse/problem.js';

const TEXTS = [
  'tools:\n  # c\n  - name: a # c\n    env: {A: b}\n    # c\n\n  - |+\n    x\n\n  - args:\n    - x\n  # c\n\n# c\nz: 1\n',
  'tools: [\n  a, # c\n  {b: c}, [d],\n  # c\n  "e" # c\n]\nz: 1 # c\n',
  'a: 1\r\ntools:\r\n- a\r\n-\r\n- - b\r\n  - c\r\n- ? x\r\n  : y\r\n# c\r\n',
  '{"tools": [{"name": "a"},\n {"name": "b"}], # c\n "z": 1}\n',
  '--- # c\ntools: &t !!seq # c\n    - >-\n       a\n\n       b\n    - *q\nq: &q 1\n...\n',
  'tools: [] # c\n  # c\n\n# c\nb: |\n  x\n',
];
const PIECES = [
  ...'\n #,-[]{}:a"\'|>\t?\uFEFF\u00a0',
  '\r\n',
  '    ',
  '# x\n',
  '- ',
  ': ',
  '|+',
  '&a ',
  '*a',
  'tools:',
  '---\n',
];

const damage = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), insert: fc.constantFrom('', ...PIECES) });

function damaged(text: string, damages: { at: number; cut: number; insert: string }[]): string {
  return damages.reduce((now, { at, cut, insert }) => {
    const start = at % (now.length + 1);
    return applyEdit(now, { start, end: Math.min(start + cut, now.length), insert });
  }, text);
}

/** The edited text, or undefined when the edit or its check refuses. Any other error is a bug. */
function attempt(text: string, edit: () => string): string | undefined {
  try {
    const after = edit();
    assertOneEntryChanged(text, after);
    return after;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return undefined;
  }
}

test('a damaged text is refused with a position, or edited by the same rules as any other', () => {
  let edited = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...TEXTS),
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      (original, damages, number) => {
        const text = damaged(original, damages);
        const added = attempt(text, () =>
          applyEdit(text, addEntry(text, 'tools', { name: 'x', args: ['-y'] })),
        );
        if (added === undefined) return;
        edited += 1;
        const count = findEntries(added, 'tools').length;
        if (count > 1) expect(applyEdit(added, removeEntry(added, 'tools', count - 1))).toBe(text);
        attempt(added, () => applyEdit(added, removeEntry(added, 'tools', number % count)));
      },
    ),
    { numRuns: 400, seed: 1 },
  );
  expect(edited).toBeGreaterThan(50);
});
