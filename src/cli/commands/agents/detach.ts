import { AttachRecord, detachClient, isAttached } from '../../../integrations/index.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { CLIENT_ARGUMENT, clientFile, namedClient, SCOPE_OPTION } from './select-client.js';

const RESULT = {
  removed: 'detached',
  restored: 'detached',
  deleted: 'detached',
  unchanged: 'not attached',
} as const;

export const command = defineCommand({
  name: 'detach',
  summary: "Removes the entry that attach wrote from a client's config.",
  details: `The rest of the file stays byte for byte. A file that attach made, and that has
nothing else, is deleted, with the folders that attach made and the backup.
An entry "toolherd" that attach replaced is restored. If the client has lost its
file meanwhile, the backup stays.`,
  args: { client: CLIENT_ARGUMENT },
  options: {
    scope: SCOPE_OPTION,
    'dry-run': { type: 'boolean', about: 'say what would happen, write nothing' },
  },
  examples: ['toolherd detach claude-desktop', 'toolherd detach vscode --scope project'],
  exits: { ok: 'detached, or it was not attached', failed: 'the file cannot be edited' },
  async run(context) {
    const { args, options, output } = context;
    const client = namedClient(args.client, 'detach');
    const { scope } = options;
    const file = clientFile(context, client, scope, (candidate) => isAttached(client, candidate));
    const dryRun = options['dry-run'];
    const record = new AttachRecord(context.paths.attachedFile);
    const { change, backup } = await detachClient(client, file, { dryRun, record });
    output.json({
      ok: true,
      client: client.name,
      scope,
      file,
      change,
      backup: backup ?? null,
      dry_run: dryRun,
    });
    output.print(
      `${dryRun && change !== 'unchanged' ? 'would be ' : ''}${RESULT[change]}: ${client.title} (${file})`,
    );
    if (change === 'deleted') output.note(`${dryRun ? 'would delete' : 'deleted'}: ${file}`);
    if (backup !== undefined) output.note(`the backup of what the file held before stays: ${backup}`);
    return EXIT.ok;
  },
});
