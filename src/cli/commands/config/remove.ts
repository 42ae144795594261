import { type FoundEntry, removeEntry, type TextEdit } from '../../../config/edit/index.js';
import { chosenFile } from '../../../install/config-target.js';
import { editConfigFile } from '../../../install/edit-config-file.js';
import { type InstallState, ourEntries, stateOf } from '../../../install/install-state.js';
import { fileDiff } from '../../../install/line-diff.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { singleLine } from '../../ui/text.js';
import { findEntry } from './find-entry.js';

export const command = defineCommand({
  name: 'remove',
  summary: 'Removes a server from the nearest agent.yaml, or with -g from the global config.',
  details: `NAME is the name of the server in the file, or in the registry.
Comments and order of the file stay as they are.`,
  args: { name: { noun: 'server', complete: 'server', hint: 'see "toolherd list --all"' } },
  options: {
    global: { type: 'boolean', short: 'g', about: 'remove it from the global config' },
    'dry-run': { type: 'boolean', about: 'show the change, write nothing' },
  },
  examples: [
    'toolherd remove context7',
    'toolherd remove io.github.upstash/context7 -g',
    'toolherd remove memory --dry-run',
  ],
  exits: { ok: 'ok', notFound: 'the file has no such server', badConfig: 'the file is wrong' },
  async run(context) {
    const { args, options, output } = context;
    const { name } = args;
    const target = chosenFile(context, options.global);
    const dryRun = options['dry-run'];
    let removed: FoundEntry | undefined;
    const cut = (text: string): TextEdit => {
      removed = findEntry(context, ourEntries(text, target), target, name, 'remove');
      return removeEntry(text, target.key, removed.index);
    };
    const edited = await editConfigFile(context, target, cut, {
      dryRun,
      tell: () => notifyConfigChange(context),
    });
    const diff = fileDiff(target.file, edited.before, edited.after);
    const state = stateOf(context, { name: removed?.name, registryName: removed?.registryName });
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
    output.note(dryRun ? 'nothing was written (--dry-run)' : LEFT[state](removed?.name ?? name));
    return EXIT.ok;
  },
});

/** Where else the server still is. */
const LEFT: Readonly<Record<InstallState, (name: string) => string>> = {
  not_installed: (name) => `no config that toolherd reads here has '${name}' any more`,
  local: (name) => `the nearest agent.yaml still has '${name}'`,
  global: (name) => `the global config still has '${name}'`,
  both: (name) => `the nearest agent.yaml and the global config still have '${name}'`,
};
