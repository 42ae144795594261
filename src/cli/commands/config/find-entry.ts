import type { FoundEntry } from '../../../config/edit/index.js';
import { ToolherdError } from '../../../shared/errors.js';
import { didYouMean } from '../../../shared/text/near-miss.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import type { CommandContext } from '../../core/command.js';
import type { CommandName } from '../../core/command-names.js';
import { type ConfigFile, globalFile, localFile } from './config-target.js';
import { entriesIn } from './install-state.js';

class NotInstalledError extends ToolherdError {
  override readonly type = 'ServerNotFoundError';
}

/**
 * The entry that `name` means: its name in the registry, or in the file. If two entries have the name, the one written by
 * hand: it is the one in use. `verb`: the command that looks for it, which the error suggests for the other file.
 */
export function findEntry(
  context: CommandContext,
  entries: readonly FoundEntry[],
  target: ConfigFile,
  name: string,
  verb: CommandName,
): FoundEntry {
  const named = entries.filter((entry) => entry.name === name);
  const entry =
    entries.find(({ registryName }) => registryName === name) ??
    named.find(({ registryName }) => registryName === undefined) ??
    named[0];
  if (entry !== undefined) return entry;
  const other = target.scope === 'local' ? globalFile(context) : localFile(context);
  const isThere =
    other !== undefined && entriesIn(other).some((one) => one.name === name || one.registryName === name);
  const near = didYouMean(
    name,
    entries.flatMap((one) => [one.name ?? [], one.registryName ?? []].flat()),
  );
  const flag = target.scope === 'local' ? ' -g' : '';
  const there = `it is in ${other?.file}: toolherd ${verb} ${shellWord(name)}${flag}`;
  throw new NotInstalledError(`${target.file} has no server '${name}'`, {
    fix: isThere ? there : near === '' ? 'see "toolherd list --all"' : near,
  });
}
