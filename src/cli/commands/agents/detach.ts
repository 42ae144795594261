import { detachClient, isAttached } from '../../../integrations/index.js';
import type { Command } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { clientFile, namedClient, scopeOf } from './select-client.js';

const SAID = {
  removed: 'detached',
  restored: 'detached',
  deleted: 'detached',
  unchanged: 'not attached',
} as const;

export const verb: Command = {
  usage: 'detach CLIENT [--scope user|project] [--dry-run]',
  about:
    "Takes the entry that attach wrote out of a client's config again. The rest of the file stays byte for byte.",
  help: `A file that was made by attach, and holds nothing else, is deleted.

Examples:
  toolherd detach claude-desktop
  toolherd detach vscode --scope project

Exit status: 0 detached (or it was not attached), 1 the file cannot be edited.`,
  options: { scope: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { flags, output } = call;
    const client = namedClient(call, 'detach');
    const scope = scopeOf(call);
    const file = clientFile(call, client, scope, (candidate) => isAttached(client, candidate));
    const dryRun = flags['dry-run'] === true;
    const { change } = await detachClient(client, file, { dryRun });
    output.json({ ok: true, client: client.name, scope, file, change, dry_run: dryRun });
    output.print(
      `${dryRun && change !== 'unchanged' ? 'would be ' : ''}${SAID[change]}: ${client.title} (${file})`,
    );
    if (change === 'deleted') output.note(`${dryRun ? 'would delete' : 'deleted'}: ${file}`);
    return EXIT.ok;
  },
};
