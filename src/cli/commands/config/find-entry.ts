import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { FoundEntry } from '../../../config/edit/index.js';
import { type ConfigFile, globalFile, localFile } from '../../../install/config-target.js';
import { entriesIn } from '../../../install/install-state.js';
import { ToolherdError } from '../../../shared/errors.js';
import { didYouMean, nearMiss } from '../../../shared/text/near-miss.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import type { CommandContext } from '../../core/command.js';
import type { CommandName } from '../../core/command-names.js';

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
  const flag = target.scope === 'local' ? ' -g' : '';
  const there = `it is in ${other?.file}: toolherd ${verb} ${shellWord(name)}${flag}`;
  throw new NotInstalledError(
    existsSync(target.file)
      ? `${target.file} has no server '${name}'`
      : `there is no ${basename(target.file)} here that could have a server '${name}'`,
    { fix: isThere ? there : nearFix(name, entries, other, `toolherd ${verb}`, flag) },
  );
}

/** A similar name: of this file, else of the other one. */
function nearFix(
  name: string,
  entries: readonly FoundEntry[],
  other: ConfigFile | undefined,
  command: string,
  flag: string,
): string {
  const near = didYouMean(name, namesOf(entries));
  if (near !== '') return near;
  const elsewhere = other === undefined ? undefined : nearMiss(name, namesOf(entriesIn(other)));
  if (other === undefined || elsewhere === undefined) return 'see "toolherd list --all"';
  return `did you mean '${elsewhere}' of ${other.file}? ${command} ${shellWord(elsewhere)}${flag}`;
}

function namesOf(entries: readonly FoundEntry[]): string[] {
  return entries.flatMap((one) => [one.name ?? [], one.registryName ?? []].flat());
}
