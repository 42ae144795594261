import type { ToolEntry } from '../../fleet/fleet.js';
import { entryNotes } from './entry-notes.js';
import type { PublicEntry } from './public-names.js';

/** A tool under its name in the whole herd; what else its server said of it stays with it. */
export function toolEntry({ server, name, exposedName, definition }: PublicEntry): ToolEntry {
  const { name: _, problem: __, cached: ___, blocked: ____, description, inputSchema, ...more } = definition;
  const block = server.catalog.blockOf(name);
  return {
    ...more,
    server: server.spec.name,
    name,
    exposed_name: exposedName,
    description: typeof description === 'string' ? description : null,
    input_schema: inputSchema ?? null,
    ...entryNotes(server.catalog, 'tools', name),
    ...(block === undefined ? {} : { blocked: block.why }),
  };
}
