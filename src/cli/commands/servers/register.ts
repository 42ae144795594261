import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';
import { readSourceFile, saveEntry } from './source-file.js';
import { statusTable } from './status-table.js';

export const command = defineCommand({
  name: 'register',
  summary: 'Adds a server to the running daemon, from a file with one entry.',
  details: `The server stays until you unregister it or the daemon ends.
FILE is JSON or YAML. It has either an entry as under mcp_servers in the config,
or a source document, which names a plugin folder or a remote server:
  {"name": "plugin", "source_type": "mcp", "url": "mcp://plugin",
   "mcp_plugin_dir": "./plugin"}
Paths are relative to the file.
Variables come from the daemon's environment.`,
  args: { file: {} },
  options: { save: { type: 'boolean', about: 'write the entry to the global config instead' } },
  examples: ['toolherd register plugin.json', 'toolherd register plugin.json --save'],
  exits: { ok: 'ok', badConfig: 'the file is wrong, or the name is taken' },
  async run(context) {
    const { args, options, output } = context;
    const source = await readSourceFile(context, args.file);
    const fleet = await context.fleet({ viewMode: 'herd' });
    if (options.save) {
      const { daemon } = await fleet.status([]);
      await saveEntry(daemon.config_file, source);
      await fleet.reload();
      output.note(`written to ${daemon.config_file}`);
    } else {
      await fleet.register(source.document, source.folder);
    }
    const { servers } = await fleet.status([String(source.document.name)]);
    const warnings = options.save ? source.secrets : [];
    output.json({ servers, saved: options.save, warnings });
    for (const warning of warnings) output.note(`warning: ${singleLine(warning)}`);
    output.print(statusTable(servers, Date.now(), output.columns, context.environment));
    return EXIT.ok;
  },
});
