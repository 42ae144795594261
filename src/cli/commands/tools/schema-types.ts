import { isObject } from '../../../shared/json.js';

/** The parts of the schema of one argument that the command reads. The server checks the rest. */
export interface Property {
  type?: unknown;
  enum?: unknown;
  const?: unknown;
  anyOf?: unknown;
  oneOf?: unknown;
  /** From OpenAPI: null is allowed too. */
  nullable?: unknown;
  default?: unknown;
}

const KNOWN = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];

export function propertiesOf(schema: unknown): Record<string, Property> {
  if (!isObject(schema) || !isObject(schema.properties)) return {};
  const each = Object.entries(schema.properties).map(([name, property]) => [
    name,
    followed(schema, property),
  ]);
  return Object.fromEntries(each);
}

/** With references to definitions in the same schema resolved, one step deep: generators write enums like that. */
function followed(schema: Record<string, unknown>, property: unknown): unknown {
  if (!isObject(property)) return property;
  if (Array.isArray(property.anyOf))
    return { ...property, anyOf: property.anyOf.map((one) => definitionOf(schema, one)) };
  return definitionOf(schema, property);
}

function definitionOf(schema: Record<string, unknown>, property: unknown): unknown {
  const [, place = '', name = ''] =
    (isObject(property) && /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(String(property.$ref))) || [];
  const all = Object.hasOwn(schema, place) ? schema[place] : undefined;
  return isObject(all) && Object.hasOwn(all, name) ? all[name] : property;
}

/** The types that a value may have; undefined if the schema uses other keywords than those read here. */
export function typesOf(property: unknown): string[] | undefined {
  if (!isObject(property)) return undefined;
  const { type, anyOf, oneOf, nullable } = property as Property;
  const choices = anyOf ?? oneOf;
  if (type === undefined && Array.isArray(choices)) {
    const each = choices.map(typesOf);
    return each.some((types) => types === undefined) ? undefined : [...new Set(each.flat() as string[])];
  }
  const types = typeof type === 'string' ? [type] : type;
  if (!Array.isArray(types) || types.length === 0 || !types.every((one) => KNOWN.includes(one)))
    return undefined;
  return nullable === true ? [...types, 'null'] : types;
}

/** The allowed values, if the schema lists them. */
export function choicesOf(property: unknown): unknown[] | undefined {
  if (!isObject(property)) return undefined;
  if (Array.isArray(property.enum))
    return property.nullable === true ? [...property.enum, null] : property.enum;
  return property.const === undefined ? undefined : [property.const];
}

export function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  // string, number and boolean have the same names in JavaScript
  return typeof value === type;
}
