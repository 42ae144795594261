import type { Command } from '../../core/command.js';
import { noteMisconfigured } from '../../core/daemon-variables.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';

export const verb: Command = {
  usage: 'reload [--dry-run]',
  about: `Reads the config again, as the daemon does by itself when a file changes. Only servers that it changes are
touched; a file that is wrong changes nothing. A server whose entry cannot be resolved, for example because a variable is
not set, is reported and does not run.`,
  help: `Examples:
  toolherd reload
  toolherd reload --dry-run        says what would change

Exit status: 0 ok, 78 the config is wrong.`,
  options: { 'dry-run': { type: 'boolean' } },
  most: 0,
  async run(call) {
    const { flags, output } = call;
    const isDryRun = flags['dry-run'] === true;
    const fleet = await call.fleet({ viewMode: 'herd' });
    const { misconfigured = [], ...report } = await withTimeout(call, fleet.reload(isDryRun));
    output.json({ ...report, ...noteMisconfigured(call, misconfigured), dry_run: isDryRun });
    for (const change of ['added', 'removed', 'changed', 'unchanged'] as const)
      if (report[change].length > 0) output.print(`${change}: ${report[change].join(', ')}`);
    if (isDryRun) output.note('nothing was changed');
    return EXIT.ok;
  },
};
