import type { Command } from '../../core/command.js';
import { withTimeout } from '../../core/timeout.js';
import { firstLine } from '../../ui/first-line.js';
import { table } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import { warnAboutBadDefinitions, warnAboutMissingLists } from './list-warnings.js';
import { showStartProgress } from './start-progress.js';

export const verb: Command = {
  usage: 'tools [SERVER] [--schema] [--refresh]',
  about: `Lists the tools of the herd, or of one server. A server that has never run is started for it; of one that rests,
what it last offered is shown. The list of the herd waits at most
daemon.list_wait (2 s) for servers that start. With SERVER or --refresh it waits until they have started. stderr names the
lists that are missing. A tool whose definition is bad is marked with '!' and can be called all the same; one
that is blocked, because it is not what was pinned, cannot.`,
  help: `Examples:
  toolherd tools
  toolherd tools memory --schema       with the JSON Schema of the arguments
  toolherd tools memory --refresh      ask the server again; start it if need be
  toolherd tools --json | jq -r '.tools[].exposed_name'

Exit status: 0 ok, 1 the one server that was named could not be asked, 4 no such server,
69 it cannot be reached, 77 it needs authorisation, 78 its entry in the config cannot be resolved.`,
  options: { schema: { type: 'boolean' }, refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const asked = showStartProgress(call, fleet, args[0], fleet.tools(args[0], flags.refresh === true));
    const { tools, missing } = await withTimeout(call, asked);
    output.json({ tools, missing });
    warnAboutBadDefinitions(
      output,
      { entries: tools, missing },
      (index) => `${tools[index]?.server}.${tools[index]?.name}`,
    );
    const status = await warnAboutMissingLists(call, fleet, { entries: tools, missing }, args[0]);
    if (flags.schema === true) {
      for (const tool of tools) {
        const name = singleLine(`${tool.server}.${tool.name}`);
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
