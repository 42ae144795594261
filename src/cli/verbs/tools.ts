import { EXIT } from '../exit-codes.js';
import { table } from '../table.js';
import type { Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'tools [SERVER] [--schema]',
  about: 'Lists the tools of the herd, or of one server. A server that has not run yet is started for it.',
  help: `Examples:
  toolherd tools
  toolherd tools memory --schema       with the JSON Schema of the arguments`,
  options: { schema: { type: 'boolean' }, refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const tools = await fleet.tools(args[0], flags.refresh === true);
    output.json({ tools });
    if (flags.schema === true) {
      for (const tool of tools) {
        output.print(`${tool.server}.${tool.name}\n${JSON.stringify(tool.input_schema, null, 2)}`);
      }
      return EXIT.ok;
    }
    const rows = tools.map(({ server, name, description }) => [
      `${server}.${name}`,
      firstLine(description ?? ''),
    ]);
    output.print(rows.length === 0 ? 'no tools' : table(['TOOL', 'DESCRIPTION'], rows));
    return EXIT.ok;
  },
};

function firstLine(text: string): string {
  const line = text.split('\n').find((part) => part.trim() !== '') ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
