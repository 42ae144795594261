import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { warnAboutMisconfigured } from '../../core/config-problems.js';

export const command = defineCommand({
  name: 'reload',
  summary: 'Reads the config again, as the daemon does when a file changes.',
  details: `Only servers whose entries changed are restarted, after their calls in flight
or 10 s. A wrong file changes nothing.
If an entry cannot be resolved, because a variable is not set, say, its server
is reported and does not run.`,
  options: { 'dry-run': { type: 'boolean', about: 'only say what would change' } },
  examples: ['toolherd reload', 'toolherd reload --dry-run'],
  exits: { ok: 'ok', badConfig: 'the config is wrong' },
  async run(context) {
    const { options, output } = context;
    const isDryRun = options['dry-run'];
    const fleet = await context.fleet({ viewMode: 'herd' });
    const { misconfigured = [], ...report } = await fleet.reload(isDryRun);
    output.json({ ...report, ...warnAboutMisconfigured(context, misconfigured), dry_run: isDryRun });
    for (const change of ['added', 'removed', 'changed', 'unchanged'] as const)
      if (report[change].length > 0) output.print(`${change}: ${report[change].join(', ')}`);
    if (isDryRun) output.note('nothing was changed');
    return EXIT.ok;
  },
});
