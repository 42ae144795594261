import type { ResourceEntry, TemplateEntry } from '../../../fleet/fleet.js';
import type { Command } from '../../core/command.js';
import { withTimeout } from '../../core/timeout.js';
import { firstLine } from '../../ui/first-line.js';
import { table } from '../../ui/table.js';
import { warnAboutBadDefinitions, warnAboutMissingLists } from './list-warnings.js';
import { showStartProgress } from './start-progress.js';

export const verb: Command = {
  usage: 'resources [SERVER] [--refresh]',
  about: `Lists the resources of the herd, or of one server, and the templates of more: a URI with {names} to be filled in.
A server that has never run is started for it; of one that rests, what it last offered is shown. The list of the herd waits at most
daemon.list_wait (2 s) for servers that start. With SERVER or --refresh it waits until they have started. stderr names the
lists that are missing.`,
  help: `Examples:
  toolherd resources
  toolherd resources everything
  toolherd resources everything --refresh      ask the server again; start it if need be

Exit status: 0 ok, 1 the one server that was named could not be asked, 4 no such server,
69 it cannot be reached, 77 it needs authorisation.`,
  options: { refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const asked = showStartProgress(call, fleet, args[0], fleet.resources(args[0], flags.refresh === true));
    const { resources, templates, missing } = await withTimeout(call, asked);
    output.json({ resources, templates, missing });
    const entries = [...resources, ...templates];
    warnAboutBadDefinitions(
      output,
      { entries, missing },
      (index) => `${entries[index]?.server} ${uriOf(entries[index]!)}`,
    );
    const status = await warnAboutMissingLists(call, fleet, { entries, missing }, args[0]);
    const rows = entries.map((entry) => [
      entry.server,
      `${uriOf(entry)}${entry.problem === undefined ? '' : ' !'}`,
      entry.mime_type ?? '-',
      firstLine(entry.description ?? entry.name),
    ]);
    const header = ['SERVER', 'URI', 'TYPE', 'DESCRIPTION'];
    output.print(rows.length === 0 ? 'no resources' : table(header, rows, output.columns));
    return status;
  },
};

function uriOf(entry: ResourceEntry | TemplateEntry): string {
  return String(entry.uri ?? entry.uri_template);
}
