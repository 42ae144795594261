import { dirname } from 'node:path';
import { parseConfigFile } from '../../../config/config-file.js';
import type { ParsedEntry } from '../../../config/fields/parsed-entry.js';
import type { HerdSpec } from '../../../config/fields/spec.js';
import { formatProblem } from '../../../config/parse/problem.js';
import { isUserOwnedFile } from '../../../config/trust/trusted-path.js';
import {
  type ConfigFile,
  entriesOf,
  globalFile,
  localFile,
  readText,
  settingsOf,
} from '../../../install/config-target.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand, UsageError } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { NO_SERVERS } from '../../ui/text.js';

export const command = defineCommand({
  name: 'list',
  summary: 'Lists the servers of the nearest agent.yaml and of the global config.',
  details: `It starts nothing, and works for files that are not allowed.
"toolherd status" shows what runs.`,
  options: {
    global: { type: 'boolean', short: 'g', about: 'the global config alone' },
    all: { type: 'boolean', about: 'both files (the default)' },
  },
  examples: ['toolherd list', 'toolherd list -g', "toolherd list -g --json | jq -r '.servers[].name'"],
  exits: { ok: 'ok', badConfig: 'a file is wrong' },
  async run(context) {
    const { options, output } = context;
    const rows = chosenFiles(context, options).flatMap((file) => rowsOf(context, file));
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
        ? NO_SERVERS
        : table(['NAME', 'WHERE', 'TRANSPORT', 'SERVER', ''], cells, output.columns),
    );
    return EXIT.ok;
  },
});

function chosenFiles(
  context: CommandContext,
  { global, all }: { global: boolean; all: boolean },
): ConfigFile[] {
  if (global && (all || context.globals.agent !== undefined)) {
    throw new UsageError('-g is the global config alone', 'leave out -g, or the other flag');
  }
  if (global) return [globalFile(context)];
  const local = localFile(context);
  return [...(local === undefined ? [] : [local]), globalFile(context)];
}

function rowsOf(context: CommandContext, target: ConfigFile) {
  const isUserOwned = isUserOwnedFile(dirname(context.paths.configFile), target.file);
  const settings = settingsOf(context);
  const text = readText(target) ?? '';
  const entries = entriesOf(target, text, settings, isUserOwned, (warning) => {
    context.output.note(formatProblem(warning, 'warning'));
  });
  const herds = target.scope === 'global' ? parseConfigFile(target.file, text).herds : [];
  return [...entries.map((entry) => rowOf(entry, target)), ...herds.map((herd) => herdRow(herd, target))];
}

function herdRow({ name, transport, address }: HerdSpec, { scope, file }: ConfigFile) {
  return { name, scope, file, transport, server: address, registry_name: null, enabled: true };
}

/** Without `args` and `url`, which may hold a key. */
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
