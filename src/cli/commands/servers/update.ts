import type { UpdatedPackage } from '../../../fleet/packages.js';
import { updateSentence } from '../../../fleet/texts/update-sentence.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';
import { problemLines, refusalLines, unlistedLines } from './package-problem.js';

export const command = defineCommand({
  name: 'update',
  summary: 'Installs the newest packages of npx servers, and restarts these servers.',
  details: `It updates packages that toolherd installed, and whose version may change: a
bare name, a range or a tag. A server with a call in flight is not restarted:
its next start uses the new version. Servers that do not run are not started.`,
  args: { servers: { label: 'SERVER', noun: 'server', many: true, unless: 'all', complete: 'server' } },
  options: {
    all: { type: 'boolean', about: 'all servers' },
    'dry-run': { type: 'boolean', about: 'only say what would be installed' },
  },
  examples: ['toolherd update memory', 'toolherd update --all --dry-run'],
  exits: { ok: 'ok', failed: 'a package could not be installed', notFound: 'no such server' },
  async run(context) {
    const { args, options, output } = context;
    const fleet = await context.fleet();
    const selection = options.all ? { all: true as const } : { servers: [...args.servers] };
    const { packages } = await fleet.update(selection, options['dry-run']);
    output.json({ packages });
    for (const line of packages.flatMap(linesOf)) output.print(line);
    for (const line of unlistedLines(options.all ? [] : args.servers, packages)) output.note(line);
    return packages.some(({ result }) => result === 'failed') ? EXIT.failed : EXIT.ok;
  },
});

function linesOf(updated: UpdatedPackage): string[] {
  if (updated.result === 'failed') return problemLines(updated);
  const refusal = updated.result === 'updated' ? refusalLines(updated) : [];
  return [singleLine(updateSentence(updated)), ...refusal];
}
