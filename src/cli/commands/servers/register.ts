import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { saveEntry } from './save-entry.js';
import { readSourceFile } from './source-file.js';
import { statusTable } from './status-table.js';

export const verb: Command = {
  usage: 'register FILE [--save]',
  about: `Adds a server to the herd that runs, from a file with one entry or one source document (JSON or YAML). It stays
until it is unregistered or the daemon ends; with --save it is written to the global config instead.`,
  help: `A source document names a plugin folder or a remote server:
  {"name": "plugin", "source_type": "mcp", "url": "mcp://plugin", "mcp_plugin_dir": "./plugin"}
An entry is what stands under mcp_servers in the config. Paths are relative to the file; variables are filled in from the
environment of the daemon.

Examples:
  toolherd register plugin.json
  toolherd register plugin.json --save

Exit status: 0 ok, 78 something is wrong with the file, or the name is taken.`,
  options: { save: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const [file] = call.args;
    const { flags, output } = call;
    if (file === undefined) throw new UsageError('name a file', 'usage: toolherd register FILE [--save]');
    const source = await readSourceFile(call, file);
    const fleet = await call.fleet({ viewMode: 'herd' });
    if (flags.save === true) {
      const { daemon } = await fleet.status([]);
      await saveEntry(daemon.config_file, source);
      await fleet.reload();
      output.note(`written to ${daemon.config_file}`);
    } else {
      await fleet.register(source.document, source.folder);
    }
    const { servers } = await fleet.status([String(source.document.name)]);
    output.json({ servers, saved: flags.save === true });
    output.print(statusTable(servers, Date.now(), output.columns, call.environment));
    return EXIT.ok;
  },
};
