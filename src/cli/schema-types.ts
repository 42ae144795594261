/** What a tool's schema says about one argument, as far as the command looks: the rest is the server's to judge. */
export interface Property {
  type?: unknown;
  enum?: unknown;
  const?: unknown;
  anyOf?: unknown;
  oneOf?: unknown;
}

const KNOWN = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];

export function propertiesOf(schema: unknown): Record<string, Property> {
  const properties = isRecord(schema) ? schema.properties : undefined;
  return isRecord(properties) ? (properties as Record<string, Property>) : {};
}

/** The types that a value may have; undefined where the schema says it in words that are not understood here. */
export function typesOf(property: unknown): string[] | undefined {
  if (!isRecord(property)) return undefined;
  const { type, anyOf, oneOf } = property as Property;
  const choices = anyOf ?? oneOf;
  if (type === undefined && Array.isArray(choices)) {
    const each = choices.map(typesOf);
    return each.some((types) => types === undefined) ? undefined : [...new Set(each.flat() as string[])];
  }
  const types = typeof type === 'string' ? [type] : type;
  return Array.isArray(types) && types.length > 0 && types.every((one) => KNOWN.includes(one))
    ? types
    : undefined;
}

/** The values among which one has to be chosen. */
export function choicesOf(property: unknown): unknown[] | undefined {
  if (!isRecord(property)) return undefined;
  if (Array.isArray(property.enum)) return property.enum;
  return property.const === undefined ? undefined : [property.const];
}

export function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isInteger(value);
  // the three that are left are called the same in both
  return typeof value === type;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
