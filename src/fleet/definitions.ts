import { isObject, type JsonObject } from '../shared/json.js';
import { DEFAULT_SEPARATOR, joinNames } from '../shared/mcp/separators.js';
import { tokensOf } from '../shared/mcp/surface.js';
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './lists.js';

type Definition = Record<string, unknown>;

const ANYTHING: JsonObject = { type: 'object' };

/**
 * The entries of the herd's lists as definitions of MCP. Clients reject a whole list for one bad definition, so the
 * broken part of a bad one is left out: the tool can still be called, and the others are listed.
 */
export function toolDefinition(entry: ToolEntry, name: string): Definition {
  const { server: _, exposed_name: __, cached: ___, blocked: ____, alias: _____, ...own } = entry;
  const { problem, description, input_schema, ...more } = own;
  if (problem !== undefined) delete more.outputSchema;
  return {
    ...more,
    name,
    ...described(description),
    inputSchema: acceptableSchema(input_schema),
  };
}

/**
 * What a tool costs an agent that lists it: the estimate of `tools --tokens`, status, profiles and `auto`. Agents do not see
 * a blocked tool: it costs nothing. The separator of a caller does not count, so that all callers get the same number.
 */
export function toolTokens(tool: ToolEntry): number {
  if (tool.blocked !== undefined) return 0;
  const name = tool.alias ?? joinNames(tool.server, tool.name, DEFAULT_SEPARATOR);
  return tokensOf(toolDefinition(tool, name));
}

export function promptDefinition(entry: PromptEntry, name: string): Definition {
  const { server: _, exposed_name: __, cached: ___, problem, description, ...more } = entry;
  const { arguments: wanted, ...rest } = more;
  const hasArguments = wanted.length > 0 && problem === undefined;
  return { ...rest, name, ...described(description), ...(hasArguments && { arguments: wanted }) };
}

export function resourceDefinition(entry: ResourceEntry): Definition {
  const { server: _, cached: __, problem: ___, description, mime_type, ...more } = entry;
  return { ...more, ...described(description), ...(mime_type !== null && { mimeType: mime_type }) };
}

export function templateDefinition(entry: TemplateEntry): Definition {
  const { server: _, cached: __, problem: ___, description, mime_type, uri_template, ...more } = entry;
  const mimeType = mime_type !== null && { mimeType: mime_type };
  return { ...more, uriTemplate: uri_template, ...described(description), ...mimeType };
}

function described(description: string | null): Definition {
  return description === null ? {} : { description };
}

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

interface Named {
  name: string;
  exposed_name: string;
  alias?: string | undefined;
}

/** The server's own name, or that of a profile, where the client sees one server; else the public name. */
export function shownName(server: string | undefined, { name, exposed_name, alias = name }: Named): string {
  return server === undefined ? exposed_name : alias;
}
