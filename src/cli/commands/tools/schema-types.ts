import { isObject } from '../../../shared/json.js';
/** What a tool's schema says about one argument, as far as the command looks: the rest is the server's to judge. */
export interface Property {
  type?: unknown;
  enum?: unknown;
  const?: unknown;
  anyOf?: unknown;
  oneOf?: unknown;
  /** Of OpenAPI: null will do as well. */
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

/** Written out where it refers to a definition in the same schema, as generators write lists of choices. One step deep. */
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

/** The types that a value may have; undefined where the schema says it in words that are not understood here. */
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

/** The values among which one has to be chosen. */
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
  // the three that are left are called the same in both
  return typeof value === type;
}
