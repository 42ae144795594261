import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../../fleet/fleet.js';
import type { JsonObject } from '../../shared/json.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { Catalog } from './catalog.js';
import type { ListKey } from './lists.js';
import type { PublicEntry } from './public-names.js';

/** What toolherd adds to an entry. */
interface EntryNotes {
  problem?: string;
  cached?: true;
}

function entryNotes(catalog: Catalog, list: ListKey, key: string): EntryNotes {
  const problem = catalog.problemOf(list, key);
  return {
    ...(problem === undefined ? {} : { problem }),
    ...(catalog.listStates().get(list)?.freshness === 'cached' ? { cached: true } : {}),
  };
}

/** A tool under its public name. Fields that toolherd does not know are passed on. */
export function toolEntry({ server, name, publicName, definition, alias }: PublicEntry): ToolEntry {
  const { name: _, problem: __, cached: ___, blocked: ____, alias: _____, ...listed } = definition;
  const { description, inputSchema, ...more } = listed;
  const block = server.catalog.blockOf(name);
  return {
    ...more,
    server: server.spec.name,
    name,
    exposed_name: publicName,
    ...(alias === undefined ? {} : { alias }),
    description: typeof description === 'string' ? description : null,
    input_schema: inputSchema ?? null,
    ...entryNotes(server.catalog, 'tools', name),
    ...(block === undefined ? {} : { blocked: block.why }),
  };
}

/** A prompt under its public name. */
export function promptEntry({ server, name, publicName, definition }: PublicEntry): PromptEntry {
  const { name: _, problem: __, cached: ___, description, arguments: wanted, ...more } = definition;
  return {
    ...more,
    server: server.spec.name,
    name,
    exposed_name: publicName,
    description: typeof description === 'string' ? description : null,
    arguments: Array.isArray(wanted) ? wanted : [],
    ...entryNotes(server.catalog, 'prompts', name),
  };
}

type Source = Pick<ConfiguredServer, 'spec' | 'catalog'>;

/** Resources have no public names: a URI passes unchanged, with the name of its server beside it. */
export function resourceEntries(server: Source): ResourceEntry[] {
  return (server.catalog.knownLists().resources ?? []).map(({ uri, ...definition }) => ({
    ...described(definition, String(uri)),
    server: server.spec.name,
    uri: String(uri),
    ...entryNotes(server.catalog, 'resources', String(uri)),
  }));
}

export function templateEntries(server: Source): TemplateEntry[] {
  return (server.catalog.knownLists().templates ?? []).map(({ uriTemplate, ...definition }) => ({
    ...described(definition, String(uriTemplate)),
    server: server.spec.name,
    uri_template: String(uriTemplate),
    ...entryNotes(server.catalog, 'templates', String(uriTemplate)),
  }));
}

function described(
  { name, description, mimeType, problem: _, cached: __, ...more }: JsonObject,
  fallbackName: string,
) {
  return {
    ...more,
    name: typeof name === 'string' ? name : fallbackName,
    description: typeof description === 'string' ? description : null,
    mime_type: typeof mimeType === 'string' ? mimeType : null,
  };
}
