import { dirname } from 'node:path';
import type { ParsedEntry } from '../../../config/entry/parsed-entry.js';
import { formatProblem } from '../../../config/parse/problem.js';
import { isUserOwnedFile } from '../../../config/trusted-path.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { table } from '../../ui/table.js';
import { type ConfigFile, entriesOf, globalFile, localFile, settingsOf, textOf } from './config-file.js';

export const verb: Command = {
  usage: 'list [-g | --all]',
  about: `Lists the servers of the nearest agent.yaml; with -g those of the global config, with --all both. Nothing is started, and
nothing needs to be allowed: what runs is shown by 'toolherd status'.`,
  help: `Examples:
  toolherd list
  toolherd list --all
  toolherd list -g --json | jq -r '.servers[].name'

Exit status: 0 ok, 78 something is wrong with a file.`,
  options: { global: { type: 'boolean', short: 'g' }, all: { type: 'boolean' } },
  most: 0,
  async run(call) {
    const { output } = call;
    const rows = chosenFiles(call).flatMap((file) => rowsOf(call, file));
    const locals = new Set(rows.flatMap(({ scope, name }) => (scope === 'local' ? [name] : [])));
    const servers = rows.map((row) => ({
      ...row,
      overridden: row.scope === 'global' && locals.has(row.name),
    }));
    output.json({ servers });
    const cells = servers.map(({ name, scope, transport, server, registry_name, enabled, overridden }) => [
      name,
      scope,
      transport,
      registry_name ?? server,
      [enabled ? [] : ['disabled'], overridden ? ['overridden'] : []].flat().join(', '),
    ]);
    output.print(
      cells.length === 0
        ? 'no servers'
        : table(['NAME', 'WHERE', 'TRANSPORT', 'SERVER', ''], cells, output.columns),
    );
    return EXIT.ok;
  },
};

function chosenFiles(call: CommandContext): ConfigFile[] {
  const { flags, output } = call;
  if (flags.global === true && (flags.all === true || flags.agent !== undefined)) {
    throw new UsageError('-g is the global config alone', 'leave out -g, or the other flag');
  }
  if (flags.global === true) return [globalFile(call)];
  const local = localFile(call);
  if (local === undefined) {
    output.note('there is no agent.yaml here or above; the global config: toolherd list -g');
  }
  return [...(local === undefined ? [] : [local]), ...(flags.all === true ? [globalFile(call)] : [])];
}

function rowsOf(call: CommandContext, target: ConfigFile) {
  const isUserOwned = isUserOwnedFile(dirname(call.paths.configFile), target.file);
  const settings = settingsOf(call);
  const text = textOf(target);
  const entries = entriesOf(target, text, settings, isUserOwned, (warning) => {
    call.output.note(formatProblem(warning, 'warning'));
  });
  return entries.map((entry) => rowOf(entry, target));
}

/** No args and no url: a key may stand there. */
function rowOf({ name, server, transport, fields }: ParsedEntry, { scope, file }: ConfigFile) {
  const registryName = typeof fields.registry_name === 'string' ? fields.registry_name : null;
  return {
    name,
    scope,
    file,
    transport,
    server,
    registry_name: registryName,
    enabled: fields.enabled !== false,
  };
}
