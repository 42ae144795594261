import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { schemaProblem, toolSchemaProblem } from '../../../src/supervisor/catalog/schema-problem.js';

const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false });

function compiles(schema: object): boolean {
  try {
    ajv.compile(schema);
    return true;
  } catch {
    return false;
  }
}

describe('U7: a schema that cannot be compiled', () => {
  test.each([
    [undefined, 'is missing'],
    ['not a schema', 'is no object'],
    [[], 'is no object'],
    [{}, 'has the type none, not "object"'],
    [{ type: 'string' }, 'has the type "string", not "object"'],
    [{ type: ['object'] }, 'has the type an object, not "object"'],
    [{ type: 'object', properties: 7 }, 'properties is no object'],
    [{ type: 'object', properties: { a: 7 } }, 'properties.a is no schema'],
    [
      { type: 'object', properties: { a: { type: 'strin' } } },
      'properties.a.type is "strin", which is no type',
    ],
    [{ type: 'object', required: 'a' }, 'required is no list of names'],
    [{ type: 'object', required: ['a', 'a'] }, 'required has a name twice'],
    [{ type: 'object', anyOf: [] }, 'anyOf is no list of schemas'],
    [{ type: 'object', allOf: [{}, { minLength: -1 }] }, 'allOf.1.minLength is no whole number from 0 on'],
    [
      { type: 'object', properties: { a: { pattern: '(' } } },
      'properties.a.pattern is "(", which is no regular expression',
    ],
    [
      { type: 'object', patternProperties: { '[': {} } },
      'patternProperties has "[", which is "[", which is no regular expression',
    ],
    [
      { type: 'object', properties: { a: { $ref: '#/$defs/b' } } },
      'properties.a.$ref leads nowhere: "#/$defs/b"',
    ],
    [
      { type: 'object', properties: { a: { $ref: 'https://example.com/b.json' } } },
      'properties.a.$ref leads nowhere: "https://example.com/b.json"',
    ],
    [
      { type: 'object', dependentRequired: { a: [1] } },
      'dependentRequired has "a", which is no list of names',
    ],
  ])('%j: %s', (schema, problem) => {
    expect(toolSchemaProblem(schema)).toBe(problem);
  });

  test.each([
    [{ type: 'object' }],
    [{ type: 'object', whatever: { type: 7 }, 'x-extra': [] }],
    [
      {
        type: 'object',
        $defs: { b: { type: ['string', 'null'] } },
        properties: { a: { $ref: '#/$defs/b' } },
      },
    ],
    [{ type: 'object', properties: { self: { $ref: '#' }, 'a/b': true, c: { $ref: '#/properties/a~1b' } } }],
    [{ type: 'object', properties: { a: { $anchor: 'here' }, b: { $ref: '#here' } } }],
    [{ type: 'object', properties: { type: { const: 7 }, required: { enum: [1] }, $ref: {} } }],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { items: [{}] } },
      },
    ],
  ])('is not reported for the valid schema %j', (schema) => {
    expect(toolSchemaProblem(schema)).toBeUndefined();
  });

  test('is found exactly where Ajv finds one, for generated keywords', () => {
    const junk = fc.constantFrom<unknown>(
      0,
      1,
      -1,
      1.5,
      '',
      'a',
      '(',
      'object',
      true,
      null,
      [],
      [1],
      ['a', 'a'],
      {},
    );
    const { schema } = fc.letrec<{ schema: unknown; object: object }>((tie) => ({
      schema: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), tie('object')),
      object: fc.record(
        {
          type: fc.oneof(fc.constantFrom<unknown>('object', 'string', ['string', 'null'], 'strin'), junk),
          properties: fc.oneof(fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }), junk),
          patternProperties: fc.oneof(fc.dictionary(fc.constantFrom('^a', '['), tie('schema')), junk),
          items: fc.oneof(tie('schema'), fc.constantFrom<unknown>(7, 'a', null)),
          anyOf: fc.oneof(fc.array(tie('schema'), { maxLength: 2 }), junk),
          not: fc.oneof(tie('schema'), fc.constantFrom<unknown>(7, 'a', null)),
          additionalProperties: fc.oneof(tie('schema'), fc.constantFrom<unknown>(7, 'a', null)),
          required: junk,
          enum: fc.oneof(fc.constantFrom<unknown>([1, 2], ['a']), junk),
          minimum: junk,
          multipleOf: junk,
          minLength: junk,
          maxItems: junk,
          uniqueItems: junk,
          pattern: fc.oneof(fc.constantFrom<unknown>('^a+$', '[', '\\d{2}'), junk),
          title: junk,
          dependentRequired: fc.oneof(fc.constantFrom<unknown>({ a: ['b'] }, { a: 7 }), junk),
        },
        { requiredKeys: [] },
      ),
    }));
    fc.assert(
      fc.property(schema, (one) => {
        if (typeof one !== 'object' || one === null) return;
        expect(schemaProblem(one) === undefined, JSON.stringify(one)).toBe(compiles(one));
      }),
      { seed: 20261116, numRuns: 400 },
    );
  });

  test('is found at any depth of nesting without a stack overflow', () => {
    let deep: object = { type: 'nonsense' };
    for (let level = 0; level < 50_000; level += 1) deep = { not: deep };
    expect(schemaProblem(deep)).toMatch(/^….*\.not\.type is "nonsense", which is no type$/);
  });
});
