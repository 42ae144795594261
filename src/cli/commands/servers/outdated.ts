import type { PackageStatus } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';

export const command = defineCommand({
  name: 'outdated',
  summary: 'Lists the packages of npx servers that have a newer version.',
  details: `toolherd asks npm. It looks at packages that it installed itself, and whose version
may change: a bare name, a range or a tag. RUNS is the version of the last start.
INSTALLED is the version that the next start uses.`,
  args: {
    servers: { label: 'SERVER', noun: 'server', many: true, optional: true, complete: 'server' },
  },
  examples: ['toolherd outdated', "toolherd outdated --json | jq '.packages[] | select(.behind)'"],
  exits: { ok: 'ok', failed: 'npm did not answer for a package', notFound: 'no such server' },
  async run(context) {
    const { args, output } = context;
    const fleet = await context.fleet();
    const { packages } = await fleet.outdated(args.servers.length === 0 ? undefined : args.servers);
    output.json({ packages });
    const shown = packages.filter(({ behind, problem }) => behind || problem !== null);
    if (shown.length > 0) output.print(packageTable(shown, output.columns));
    else
      output.note(
        packages.length === 0 ? 'no server has a package that could be newer' : 'nothing is behind',
      );
    return packages.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.ok;
  },
});

function packageTable(packages: readonly PackageStatus[], columns: number | undefined): string {
  const header = ['SERVER', 'PACKAGE', 'RUNS', 'INSTALLED', 'LATEST', 'NOTE'];
  const rows = packages.map(({ server, requested, version, installed, latest, update, problem }) => [
    ...[server, requested, version ?? '-', installed ?? '-', latest ?? '-'],
    problem ?? (update === 'manual' ? 'update: manual' : ''),
  ]);
  return table(header, rows, columns);
}
