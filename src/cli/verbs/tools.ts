import { firstLine } from '../first-line.js';
import { noteMarks, noteSilent } from '../list-notes.js';
import { oneLine } from '../plain-text.js';
import { table } from '../table.js';
import type { Verb } from '../verb.js';
import { within } from '../within.js';

export const verb: Verb = {
  usage: 'tools [SERVER] [--schema] [--refresh]',
  about: `Lists the tools of the herd, or of one server. A server that has never run is started for it; of one that rests,
what it last offered is shown. A tool whose definition is bad is marked with '!' and can be called all the same; one
that is blocked, because it is not what was pinned, cannot.`,
  help: `Examples:
  toolherd tools
  toolherd tools memory --schema       with the JSON Schema of the arguments
  toolherd tools memory --refresh      ask the server again; start it if need be
  toolherd tools --json | jq -r '.tools[].exposed_name'

Exit status: 0 ok, 1 the one server that was named could not be asked, 4 no such server,
69 it cannot be reached, 77 it needs authorisation.`,
  options: { schema: { type: 'boolean' }, refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const tools = await within(call, fleet.tools(args[0], flags.refresh === true));
    output.json({ tools });
    noteMarks(output, tools, (index) => `${tools[index]?.server}.${tools[index]?.name}`);
    const status = await noteSilent(output, fleet, tools, args[0]);
    if (flags.schema === true) {
      for (const tool of tools) {
        const name = oneLine(`${tool.server}.${tool.name}`);
        output.print(`${name}\n${JSON.stringify(tool.input_schema, null, 2)}`);
      }
      return status;
    }
    const rows = tools.map(({ server, name, description, problem, blocked }) => [
      `${server}.${name}${problem === undefined ? '' : ' !'}${blocked === undefined ? '' : ' (blocked)'}`,
      firstLine(description),
    ]);
    output.print(rows.length === 0 ? 'no tools' : table(['TOOL', 'DESCRIPTION'], rows, output.columns));
    return status;
  },
};
