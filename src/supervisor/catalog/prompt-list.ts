import type { PromptEntry } from '../../fleet/fleet.js';
import { entryNotes } from './entry-notes.js';
import type { PublicEntry } from './public-names.js';

/** A prompt under its name in the whole herd; what else its server said of it stays with it. */
export function promptEntry({ server, name, exposedName, definition }: PublicEntry): PromptEntry {
  const { name: _, problem: __, cached: ___, description, arguments: wanted, ...more } = definition;
  return {
    ...more,
    server: server.spec.name,
    name,
    exposed_name: exposedName,
    description: typeof description === 'string' ? description : null,
    arguments: Array.isArray(wanted) ? wanted : [],
    ...entryNotes(server.catalog, 'prompts', name),
  };
}
