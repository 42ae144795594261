import type { PackageStatus } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import { problemLines, refusalLines, unlistedLines } from './package-problem.js';

export const command = defineCommand({
  name: 'outdated',
  summary: 'Lists the packages of npx servers that have a newer version.',
  details: `toolherd asks npm. It looks at packages that it installed itself, and whose
version may change: a bare name, a range or a tag. RUNS is the version of the
last start. INSTALLED is the version that the next start uses. A package that is
not installed yet is not behind: its first start installs the newest version.`,
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
    const shown = packages.filter(({ behind }) => behind);
    if (shown.length > 0) output.print(packageTable(shown, output.columns));
    for (const line of packages.flatMap((one) => [...refusalLines(one), ...problemLines(one)]))
      output.print(line);
    const missing = packages.filter(({ version }) => version === null);
    const isSilent = shown.length === 0 && packages.every(({ problem }) => problem === null);
    for (const line of unlistedLines(args.servers, packages)) output.note(line);
    if (isSilent && missing.length < packages.length) output.note('nothing is behind');
    if (missing.length > 0) output.note(singleLine(notInstalled(missing)));
    return packages.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.ok;
  },
});

function packageTable(packages: readonly PackageStatus[], columns: number | undefined): string {
  const header = ['SERVER', 'PACKAGE', 'RUNS', 'INSTALLED', 'LATEST', 'NOTE'];
  const rows = packages.map(({ server, requested, version, installed, latest, update, refused }) => [
    ...[server, requested, version ?? '-', installed ?? '-', latest ?? '-'],
    refused !== null ? 'npm does not install it' : update === 'manual' ? 'update: manual' : '',
  ]);
  return table(header, rows, columns);
}

function notInstalled(missing: readonly PackageStatus[]): string {
  const names = missing.map(({ server }) => server).join(', ');
  return `not installed yet: ${names}. The first start installs the newest version`;
}
