import { expect, it } from 'vitest';
import { acceptableSchema } from '../../src/fleet/definitions.js';

it('The schema of arguments is unchanged, unless the official clients would reject the list for it', () => {
  const good = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], $defs: {} };
  expect(acceptableSchema(good)).toBe(good);
  const anything = { type: 'object' };
  for (const bad of [
    null,
    7,
    {},
    { type: 'string' },
    { ...good, properties: 7 },
    { ...good, required: [1] },
  ]) {
    expect(acceptableSchema(bad)).toEqual(anything);
  }
  expect(acceptableSchema({ type: 'object', properties: { a: true, b: false } })).toEqual({
    type: 'object',
    properties: { a: {}, b: { not: {} } },
  });
});
