import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../../fleet/fleet.js';
import { acceptableSchema } from './acceptable-schema.js';

type Definition = Record<string, unknown>;

/**
 * The entries of the herd's lists as definitions of MCP. Clients reject a whole list for one bad definition, so the
 * broken part of a bad one is left out: the tool can still be called, and the others are listed.
 */
export function toolDefinition(entry: ToolEntry, name: string): Definition {
  const { server: _, exposed_name: __, cached: ___, blocked: ____, ...own } = entry;
  const { problem, description, input_schema, ...more } = own;
  if (problem !== undefined) delete more.outputSchema;
  return {
    ...more,
    name,
    ...described(description),
    inputSchema: acceptableSchema(input_schema),
  };
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
