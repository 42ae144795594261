/** A JSON object, as JSON.parse makes it. */
export type JsonObject = Record<string, unknown>;

/** True for JSON objects; false for arrays and null, which `typeof` also calls objects. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The `_meta` of the params of an MCP message; undefined where there is none. */
export function metaOf(params: unknown): JsonObject | undefined {
  return isObject(params) && isObject(params._meta) ? params._meta : undefined;
}
