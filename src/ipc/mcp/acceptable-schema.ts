import { isObject, type JsonObject } from '../../shared/json.js';

const ANYTHING: JsonObject = { type: 'object' };

/**
 * The schema of a tool's arguments, if the official clients accept it. They check `type`, `properties` and `required`,
 * and reject the whole list for one bad schema. So a bad one is replaced by a schema that allows everything, and the
 * server checks the arguments. A property that is `true` or `false` is written as an object.
 */
export function acceptableSchema(schema: unknown): JsonObject {
  if (!isObject(schema) || schema.type !== 'object') return ANYTHING;
  const { properties, required } = schema;
  if (required !== undefined && !isTexts(required)) return ANYTHING;
  if (properties === undefined) return schema;
  if (!isObject(properties)) return ANYTHING;
  const values = Object.values(properties);
  if (values.every(isObjectOrArray)) return schema;
  if (!values.every((value) => isObjectOrArray(value) || typeof value === 'boolean')) return ANYTHING;
  const written = Object.entries(properties).map(([name, value]) => [name, asObject(value)]);
  return { ...schema, properties: Object.fromEntries(written) };
}

function asObject(schema: unknown): unknown {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

function isObjectOrArray(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
