import { EXIT } from '../exit-codes.js';
import { firstLine } from '../first-line.js';
import { noteMarks } from '../list-notes.js';
import { table } from '../table.js';
import type { Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'tools [SERVER] [--schema] [--refresh]',
  about: `Lists the tools of the herd, or of one server. A server that has never run is started for it; of one that rests,
what it last offered is shown. A tool whose definition is bad is marked with '!' and can be called all the same.`,
  help: `Examples:
  toolherd tools
  toolherd tools memory --schema       with the JSON Schema of the arguments
  toolherd tools memory --refresh      ask the server again; start it if need be
  toolherd tools --json | jq -r '.tools[].exposed_name'

Exit status: 0 ok, 4 no such server.`,
  options: { schema: { type: 'boolean' }, refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const tools = await fleet.tools(args[0], flags.refresh === true);
    output.json({ tools });
    noteMarks(output, tools, (index) => `${tools[index]?.server}.${tools[index]?.name}`);
    if (flags.schema === true) {
      for (const tool of tools) {
        output.print(`${tool.server}.${tool.name}\n${JSON.stringify(tool.input_schema, null, 2)}`);
      }
      return EXIT.ok;
    }
    const rows = tools.map(({ server, name, description, problem }) => [
      `${server}.${name}${problem === undefined ? '' : ' !'}`,
      firstLine(description),
    ]);
    output.print(rows.length === 0 ? 'no tools' : table(['TOOL', 'DESCRIPTION'], rows));
    return EXIT.ok;
  },
};
