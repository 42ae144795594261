import { expect, it } from 'vitest';
import compile from '../../scripts/build/compile-bundle.cjs';
import { wrap } from '../../src/bin/load-bundle.js';

it('the loader wraps a bundle in the same text as the build: V8 rejects a code cache of any other', () => {
  const source = 'exports.answer = 42;\n// last line';
  expect(wrap(source)).toBe(compile.wrap(source));
});
