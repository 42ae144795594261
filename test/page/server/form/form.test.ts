import { describe, expect, it } from 'vitest';
import { draftFrom, draftOf, EMPTY, read } from '../../../../src/page/server/form/draft.js';
import { type Field, formOf } from '../../../../src/page/server/form/fields.js';

const object = (properties: object, required: string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
});

/** The only field of a form. */
function only(schema: unknown, required = false): Field {
  const form = formOf(object({ it: schema }, required ? ['it'] : []));
  if (form.kind !== 'group') throw new Error(`it is ${form.kind}`);
  return form.fields[0]!;
}

/** What the form gives for the text of its only field. */
function typed(schema: unknown, text: string, required = false) {
  const form = formOf(object({ it: schema }, required ? ['it'] : []));
  const { value, errors } = read(form, { ...EMPTY, fields: { it: { ...EMPTY, text } } }, '');
  return errors.size > 0 ? Object.fromEntries(errors) : value;
}

describe('the form of a schema', () => {
  it.each([
    ['a string', { type: 'string' }, 'text'],
    ['a number', { type: 'number' }, 'number'],
    ['an integer', { type: 'integer' }, 'number'],
    ['a boolean', { type: 'boolean' }, 'choice'],
    ['an enum', { enum: ['a', 2] }, 'choice'],
    ['a const', { const: 7 }, 'choice'],
    ['an array', { type: 'array', items: { type: 'string' } }, 'list'],
    ['an object', object({ a: { type: 'string' } }), 'group'],
    ['properties without a type', { properties: { a: { type: 'string' } } }, 'group'],
    ['two types', { type: ['string', 'number'] }, 'variants'],
    [
      'oneOf of objects',
      { oneOf: [object({ a: { type: 'string' } }), object({ b: { type: 'number' } })] },
      'variants',
    ],
    ['oneOf of constants', { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    ['an empty schema', {}, 'json'],
    ['true', true, 'json'],
    ['an object of unknown names', { type: 'object', additionalProperties: { type: 'string' } }, 'json'],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }, 'json'],
    ['an array of anything', { type: 'array' }, 'json'],
    ['two schemas at once', { allOf: [{ type: 'string' }, { minLength: 2 }] }, 'json'],
  ])('%s has the right kind of field', (_, schema, kind) => {
    expect(only(schema).kind).toBe(kind);
  });

  it('a type or a variant of null makes a field nullable', () => {
    expect(only({ type: ['string', 'null'] })).toMatchObject({ kind: 'text', nullable: true });
    expect(only({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toMatchObject({
      kind: 'number',
      nullable: true,
    });
    expect(only({ enum: ['a', null] })).toMatchObject({
      kind: 'choice',
      nullable: true,
      options: [{ value: 'a' }],
    });
  });

  it('a local $ref is followed, and the words beside it win', () => {
    const schema = object({ it: { $ref: '#/$defs/n', description: 'here' } }, [], {
      $defs: { n: { type: 'number', description: 'there', minimum: 1 } },
    });
    expect(formOf(schema)).toMatchObject({ fields: [{ kind: 'number', description: 'here', minimum: 1 }] });
  });

  it('a schema that contains itself, or refers to what is not there, ends in a field for JSON', () => {
    const tree = object({ child: { $ref: '#/$defs/tree' } }, [], {
      $defs: { tree: object({ child: { $ref: '#/$defs/tree' } }) },
    });
    expect(JSON.stringify(formOf(tree))).toContain('contains itself');
    expect(only({ $ref: 'https://example.com/x' })).toMatchObject({ kind: 'json' });
    expect(only({ $ref: '#/$defs/no' })).toMatchObject({ kind: 'json' });
  });

  it('a schema nested without end keeps a bounded form', () => {
    let schema: object = { type: 'string' };
    for (let depth = 0; depth < 500; depth++) schema = object({ a: schema });
    expect(JSON.stringify(formOf(schema)).length).toBeLessThan(4000);
  });

  it('required fields come first', () => {
    const form = formOf(object({ a: { type: 'string' }, b: { type: 'string' } }, ['b']));
    expect(form).toMatchObject({ fields: [{ name: 'b' }, { name: 'a' }] });
  });

  it('a tool without arguments has an empty form, which gives an empty object', () => {
    const form = formOf({ type: 'object' });
    expect(read(form, draftOf(form), '')).toEqual({ value: {}, errors: new Map() });
  });
});

describe('what a form gives', () => {
  it.each([
    ['nothing for an optional text left empty', { type: 'string' }, '', {}],
    ['the text', { type: 'string' }, ' a ', { it: ' a ' }],
    ['a number', { type: 'number' }, '1.5', { it: 1.5 }],
    ['JSON', {}, '{"a":[1]}', { it: { a: [1] } }],
  ])('%s', (_, schema, text, expected) => {
    expect(typed(schema, text)).toEqual(expected);
  });

  it.each([
    ['a text that is missing', { type: 'string' }, '', 'a value is required'],
    ['a text that is too short', { type: 'string', minLength: 3 }, 'ab', 'at least 3 characters; it has 2'],
    ['a text that is too long', { type: 'string', maxLength: 1 }, 'ab', 'at most 1 characters; it has 2'],
    ['a word for a number', { type: 'number' }, 'x', 'a number'],
    ['a hexadecimal number', { type: 'number' }, '0x10', 'a number'],
    ['a fraction for an integer', { type: 'integer' }, '1.5', 'a whole number'],
    ['a number below its minimum', { type: 'number', minimum: 2 }, '1', 'at least 2'],
    ['a number at its exclusive maximum', { type: 'number', exclusiveMaximum: 2 }, '2', 'less than 2'],
    ['a number that is no multiple', { type: 'number', multipleOf: 0.1 }, '0.25', 'a multiple of 0.1'],
    ['a date without a month', { type: 'string', format: 'date' }, '2026', 'a date, such as 2026-01-31'],
    [
      'half an address',
      { type: 'string', format: 'uri' },
      'example',
      'a whole address, such as https://example.com',
    ],
  ])('%s is refused at its field', (_, schema, text, message) => {
    expect(typed(schema, text, true)).toEqual({ it: message });
  });

  it('a pattern of a server is never run', () => {
    expect(typed({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`)).toEqual({
      it: `${'a'.repeat(60)}!`,
    });
  });

  it('wrong JSON is refused at its field', () => {
    expect(typed({}, '{', true)).toEqual({ it: expect.stringMatching(/^no JSON: /) });
  });

  it('an error of a nested field has its path', () => {
    const form = formOf(
      object({ list: { type: 'array', items: object({ n: { type: 'integer' } }, ['n']) } }),
    );
    const item = { ...EMPTY, fields: { n: { ...EMPTY, text: 'x' } } };
    const { errors } = read(form, { ...EMPTY, fields: { list: { ...EMPTY, items: [item] } } }, '');
    expect([...errors.keys()]).toEqual(['list[0].n']);
  });

  it('an optional group that was left empty is not given, and requires nothing', () => {
    const form = formOf(object({ group: object({ a: { type: 'string' } }, ['a']) }));
    expect(read(form, draftOf(form), '')).toEqual({ value: {}, errors: new Map() });
  });

  it('a boolean that was not chosen is not given; false is', () => {
    const form = formOf(object({ it: { type: 'boolean' } }));
    expect(read(form, draftOf(form), '').value).toEqual({});
    expect(read(form, { ...EMPTY, fields: { it: { ...EMPTY, chosen: 1 } } }, '').value).toEqual({
      it: false,
    });
  });

  it('a required field begins with its default; an optional one leaves the default to the server', () => {
    const form = formOf(
      object({ a: { type: 'number', default: 3 }, b: { type: 'string', default: 'x' } }, ['a']),
    );
    expect(read(form, draftOf(form), '').value).toEqual({ a: 3 });
  });

  it('an argument named __proto__ is an argument like any other', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    const form = formOf(schema);
    const fields = JSON.parse('{"__proto__":0}');
    Object.defineProperty(fields, '__proto__', { value: { ...EMPTY, text: 'x' }, enumerable: true });
    const { value } = read(form, { ...EMPTY, fields }, '');
    expect(JSON.stringify(value)).toBe('{"__proto__":"x"}');
  });
});

describe('a form and raw JSON', () => {
  const form = formOf(
    object({
      text: { type: 'string' },
      count: { type: 'integer' },
      on: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      where: { oneOf: [object({ a: { type: 'string' } }, ['a']), object({ b: { type: 'number' } }, ['b'])] },
      any: {},
      none: { type: ['string', 'null'] },
    }),
  );

  it('a value goes into the form and comes out of it unchanged', () => {
    const value = {
      text: 'x',
      count: 2,
      on: false,
      tags: ['a', ''],
      where: { b: 1 },
      any: { c: null },
      none: null,
    };
    const draft = draftFrom(form, { ...value, tags: ['a', 'b'] });
    expect(read(form, draft!, '')).toEqual({ value: { ...value, tags: ['a', 'b'] }, errors: new Map() });
  });

  it('a value that the form cannot show has no form', () => {
    expect(draftFrom(form, { other: 1 })).toBeUndefined();
    expect(draftFrom(form, { count: 'two' })).toBeUndefined();
    expect(draftFrom(form, [])).toBeUndefined();
  });
});
