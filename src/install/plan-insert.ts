import { addEntry, type FoundEntry, type TextEdit } from '../config/edit/index.js';
import { ToolherdError } from '../shared/errors.js';
import { shellWord } from '../shared/text/shell-word.js';
import type { ConfigFile } from './config-target.js';
import { duplicateOf, shortNameWarning } from './duplicates.js';
import { ourEntries } from './install-state.js';
import type { NewEntry } from './new-entry.js';

/** The file has the server, or another one of its name: nothing is written. */
class NameTakenError extends ToolherdError {
  override readonly type: string = 'NameTakenError';
}

class DuplicateError extends NameTakenError {
  override readonly type = 'DuplicateError';
}

/**
 * The change that adds an entry, by the rules for two entries of one name. `warn` gets a warning if one of the two will not be
 * used, `note` the reason why a name is refused.
 */
export function planInsert(
  text: string,
  target: ConfigFile,
  { entry, registryName }: NewEntry,
  warn: (message: string) => void,
  note: (message: string) => void = warn,
): TextEdit {
  const { name } = entry;
  const duplicate = duplicateOf(ourEntries(text, target), { name, registryName });
  switch (duplicate.kind) {
    case 'duplicate':
      throw isThere(target, duplicate.existing, registryName);
    case 'name-taken':
      note(
        shortNameWarning(
          { name, registryName: registryName ?? '' },
          { registryName: duplicate.existing.registryName ?? '' },
        ),
      );
      throw nameTaken(target, name, registryName ?? '', duplicate.existing);
    case 'manual-wins':
      warn(
        duplicate.manual === 'existing'
          ? `'${name}' is also the name of an entry written by hand (line ${duplicate.existing.line}), which wins: ` +
              'give this one another name with --name, or remove the other'
          : `'${name}' is also the name of ${duplicate.existing.registryName}, from the registry; the one written by hand wins`,
      );
  }
  const fields = target.key === 'tools' ? typed(entry) : entry;
  return addEntry(text, target.key, fields);
}

/** Entries of an agent.yaml have a type, behind the description. */
function typed({ name, description, ...rest }: NewEntry['entry']): Record<string, unknown> {
  return { name, description, type: 'mcp', ...rest };
}

function isThere(
  { file, scope }: ConfigFile,
  existing: FoundEntry,
  registryName: string | undefined,
): DuplicateError {
  const what = registryName ?? existing.name;
  const as = registryName !== undefined && existing.name !== undefined ? ` as '${existing.name}'` : '';
  const flag = scope === 'global' ? ' -g' : '';
  return new DuplicateError(`'${what}' is already in the file${as}`, {
    why: `${file}:${existing.line} has it; nothing was written`,
    fix: `to replace it, first: toolherd remove ${shellWord(existing.name ?? what ?? '')}${flag}`,
  });
}

function nameTaken(
  { file, scope }: ConfigFile,
  name: string,
  registryName: string,
  existing: FoundEntry,
): NameTakenError {
  const flag = scope === 'global' ? ' -g' : '';
  return new NameTakenError(`the name '${name}' is taken`, {
    why: `${file}:${existing.line} gives it to ${existing.registryName}; nothing was written`,
    fix: `toolherd add ${shellWord(registryName)}${flag} --name ${shellWord(`${ownerOf(registryName)}-${name}`)}`,
  });
}

/** `io.github.bob/files` → `bob` */
function ownerOf(registryName: string): string {
  return registryName.split('/')[0]?.split('.').at(-1) ?? '';
}
