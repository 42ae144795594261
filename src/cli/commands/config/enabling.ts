import { type FoundEntry, setEnabled } from '../../../config/edit/index.js';
import { chosenFile } from '../../../install/config-target.js';
import { editConfigFile } from '../../../install/edit-config-file.js';
import { ourEntries } from '../../../install/install-state.js';
import { fileDiff } from '../../../install/line-diff.js';
import { unsetVariables } from '../../../install/unset-variables.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type Command, defineCommand } from '../../core/command.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { singleLine } from '../../ui/text.js';
import { findEntry } from './find-entry.js';

interface Texts {
  summary: string;
  details: string;
}

function enablingCommand(name: 'enable' | 'disable', { summary, details }: Texts): Command {
  const enabled = name === 'enable';
  return defineCommand({
    name,
    summary,
    details: `${details}
It writes 'enabled: ${enabled}' into the entry.
NAME is the name of the server in the file, or in the registry.
Comments and order of the file stay as they are.`,
    args: {
      names: {
        label: 'NAME',
        noun: 'server',
        many: true,
        complete: 'server',
        hint: 'see "toolherd list --all"',
      },
    },
    options: {
      global: { type: 'boolean', short: 'g', about: 'servers of the global config' },
      'dry-run': { type: 'boolean', about: 'show the change, write nothing' },
    },
    examples: [`toolherd ${name} memory`, `toolherd ${name} github memory -g`],
    exits: { ok: 'ok', notFound: 'the file has no such server', badConfig: 'the file is wrong' },
    async run(context) {
      const { args, options, output } = context;
      const target = chosenFile(context, options.global);
      const dryRun = options['dry-run'];
      let found: FoundEntry[] = [];
      const edit = (text: string) => {
        const entries = ourEntries(text, target);
        found = [...new Set(args.names.map((one) => findEntry(context, entries, target, one, name)))];
        const changed = found.filter((entry) => entry.enabled !== enabled);
        return setEnabled(
          text,
          target.key,
          changed.map(({ index }) => index),
          enabled,
        );
      };
      // setEnabled itself checks what its edit changes
      const assertChange = () => undefined;
      const edited = await editConfigFile(context, target, edit, {
        dryRun,
        tell: () => notifyConfigChange(context),
        assertChange,
      });
      const diff = fileDiff(target.file, edited.before, edited.after);
      const warnings = enabled && !dryRun ? await unsetVariables(context, target, found) : [];
      output.json({
        ok: true,
        servers: found.map((entry) => ({
          name: entry.name ?? null,
          registry_name: entry.registryName ?? null,
          enabled,
          changed: entry.enabled !== enabled,
        })),
        scope: target.scope,
        file: target.file,
        dry_run: dryRun,
        diff,
        allowed: edited.isAllowed,
        warnings,
      });
      for (const warning of warnings) output.note(`warning: ${singleLine(warning)}`);
      for (const entry of dryRun ? [] : found) {
        const already = entry.enabled === enabled ? 'already ' : '';
        output.print(singleLine(`${already}${name}d: ${entry.name} in ${target.file}`));
      }
      if (dryRun) {
        if (edited.before !== edited.after) output.print(diff);
        output.note('nothing was written (--dry-run)');
      }
      if (enabled && !edited.isAllowed)
        output.note(
          `the file is not allowed to run yet: read it, then: toolherd allow ${shellWord(target.file)}`,
        );
      return EXIT.ok;
    },
  });
}

export const commands: readonly Command[] = [
  enablingCommand('enable', {
    summary: 'Enables servers in the nearest agent.yaml, or with -g in the global config.',
    details: 'A running daemon offers their tools at once.',
  }),
  enablingCommand('disable', {
    summary: 'Disables servers in the nearest agent.yaml, or with -g in the global config.',
    details: `A running daemon stops them and offers their tools no more.
Their entries stay in the file. "toolherd stop" stops a server for a while.`,
  }),
];
