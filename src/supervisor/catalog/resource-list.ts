import type { ResourceEntry, TemplateEntry } from '../../fleet/fleet.js';
import type { JsonObject } from '../../shared/json.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { entryNotes } from './entry-notes.js';

type Source = Pick<ConfiguredServer, 'spec' | 'catalog'>;

/** Resources have no names in the whole herd: a URI passes unchanged, and whose it is stands beside it. */
export function resourceEntries(server: Source): ResourceEntry[] {
  return (server.catalog.lists.resources ?? []).map(({ uri, ...definition }) => ({
    ...described(definition, String(uri)),
    server: server.spec.name,
    uri: String(uri),
    ...entryNotes(server.catalog, 'resources', String(uri)),
  }));
}

export function templateEntries(server: Source): TemplateEntry[] {
  return (server.catalog.lists.templates ?? []).map(({ uriTemplate, ...definition }) => ({
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
