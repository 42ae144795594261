import type { ResourceEntry, TemplateEntry } from '../../ipc/fleet.js';
import { EXIT } from '../exit-codes.js';
import { firstLine } from '../first-line.js';
import { noteMarks } from '../list-notes.js';
import { table } from '../table.js';
import type { Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'resources [SERVER] [--refresh]',
  about: `Lists the resources of the herd, or of one server, and the templates of more: a URI with {names} to be filled in.
A server that has never run is started for it; of one that rests, what it last offered is shown.`,
  help: `Examples:
  toolherd resources
  toolherd resources everything
  toolherd resources everything --refresh      ask the server again; start it if need be

Exit status: 0 ok, 4 no such server.`,
  options: { refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const { resources, templates } = await fleet.resources(args[0], flags.refresh === true);
    output.json({ resources, templates });
    const entries = [...resources, ...templates];
    noteMarks(output, entries, (index) => `${entries[index]?.server} ${uriOf(entries[index]!)}`);
    const rows = entries.map((entry) => [
      entry.server,
      `${uriOf(entry)}${entry.problem === undefined ? '' : ' !'}`,
      entry.mime_type ?? '-',
      firstLine(entry.description ?? entry.name),
    ]);
    output.print(rows.length === 0 ? 'no resources' : table(['SERVER', 'URI', 'TYPE', 'DESCRIPTION'], rows));
    return EXIT.ok;
  },
};

function uriOf(entry: ResourceEntry | TemplateEntry): string {
  return String(entry.uri ?? entry.uri_template);
}
