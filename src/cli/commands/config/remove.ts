import { type FoundEntry, removeEntry, type TextEdit } from '../../../config/edit/index.js';
import { ToolherdError } from '../../../shared/errors.js';
import { didYouMean } from '../../../shared/near-miss.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { lineDiff } from '../../ui/line-diff.js';
import { singleLine } from '../../ui/text.js';
import { type ConfigFile, chosenFile, globalFile, localFile } from './config-file.js';
import { editConfigFile } from './edit-config-file.js';
import { entriesIn, ourEntries, STATE_WORDS, stateOf } from './installed.js';

export const verb: Command = {
  usage: 'remove NAME [-g] [--dry-run]',
  about: `Takes a server out of the nearest agent.yaml, or with -g out of the global config. NAME is what it is called there, or its
name in the registry. Comments and order of the file stay as they are.`,
  help: `Examples:
  toolherd remove context7
  toolherd remove io.github.upstash/context7 -g
  toolherd remove memory --dry-run       show the change, write nothing

Exit status: 0 ok, 4 no such server in that file, 78 something is wrong with the file.`,
  options: { global: { type: 'boolean', short: 'g' }, 'dry-run': { type: 'boolean' } },
  most: 1,
  async run(call) {
    const [name] = call.args;
    const { flags, output } = call;
    if (name === undefined) throw new UsageError('name a server', 'see "toolherd list --all"');
    const target = chosenFile(call);
    const dryRun = flags['dry-run'] === true;
    let removed: FoundEntry | undefined;
    const cut = (text: string): TextEdit => {
      removed = findEntry(call, ourEntries(text, target), target, name);
      return removeEntry(text, target.key, removed.index);
    };
    const edited = await editConfigFile(call, target, cut, { dryRun, tell: true });
    const diff = lineDiff(target.file, edited.before, edited.after);
    const state = stateOf(call, { name: removed?.name, registryName: removed?.registryName });
    output.json({
      ok: true,
      name: removed?.name ?? null,
      registry_name: removed?.registryName ?? null,
      scope: target.scope,
      file: target.file,
      dry_run: dryRun,
      diff,
      state,
      allowed: edited.isAllowed,
    });
    output.print(dryRun ? diff : singleLine(`removed: ${removed?.name ?? name} from ${target.file}`));
    output.note(dryRun ? 'nothing was written (--dry-run)' : `now: ${STATE_WORDS[state]}`);
    return EXIT.ok;
  },
};

class NotInstalledError extends ToolherdError {
  override readonly type = 'ServerNotFoundError';
}

/** Of two with one name the one that is used is meant: the one written by hand. */
function findEntry(
  call: CommandContext,
  entries: FoundEntry[],
  target: ConfigFile,
  name: string,
): FoundEntry {
  const named = entries.filter((entry) => entry.name === name);
  const entry =
    entries.find(({ registryName }) => registryName === name) ??
    named.find(({ registryName }) => registryName === undefined) ??
    named[0];
  if (entry !== undefined) return entry;
  const other = target.scope === 'local' ? globalFile(call) : localFile(call);
  const isThere =
    other !== undefined && entriesIn(other).some((one) => one.name === name || one.registryName === name);
  const near = didYouMean(
    name,
    entries.flatMap((one) => [one.name ?? [], one.registryName ?? []].flat()),
  );
  const there = `it is in ${other?.file}: toolherd remove ${name}${target.scope === 'local' ? ' -g' : ''}`;
  throw new NotInstalledError(`${target.file} has no server '${name}'`, {
    fix: isThere ? there : near === '' ? 'see "toolherd list --all"' : near,
  });
}
