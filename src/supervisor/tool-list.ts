import type { ToolEntry } from '../ipc/fleet.js';
import type { ConfiguredServer } from './configured-server.js';
import { exposedNames } from './exposed-name.js';

/** Every tool that is known, under its name in the whole herd; what else its server said of it stays with it. */
export function toolEntries(servers: readonly Pick<ConfiguredServer, 'spec' | 'catalog'>[]): ToolEntry[] {
  const tools = servers.flatMap(({ spec, catalog }) =>
    (catalog.lists?.tools ?? []).map((tool) => ({ server: spec.name, name: String(tool.name), tool })),
  );
  const exposed = exposedNames(tools);
  return tools.map(({ server, name, tool: { name: _, description, inputSchema, ...more } }, index) => ({
    ...more,
    server,
    name,
    exposed_name: exposed[index]!,
    description: typeof description === 'string' ? description : null,
    input_schema: inputSchema ?? null,
  }));
}
