import { noteOffline, registryOf } from '../../../install/find-server.js';
import { searchJson, waysOf } from '../../../install/registry-format.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { defineCommand } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { firstLine } from '../../ui/text.js';

export const command = defineCommand({
  name: 'search',
  summary: 'Finds servers in the registry whose name contains QUERY; without it, all.',
  details: `It shows the latest version of each, and how to run or reach it (npm, pypi, oci;
http, sse).
If the registry cannot be reached, it shows the last known answer, and says so.
TOOLHERD_REGISTRY or daemon.registry names another registry.`,
  args: { query: { optional: true } },
  options: {
    limit: { type: 'integer', min: 1, max: 1000, default: 20, about: 'how many (default: 20)' },
    cursor: { type: 'string', label: 'C', about: 'the next page, from the answer before' },
  },
  examples: [
    'toolherd search filesystem',
    'toolherd search github --limit 5',
    "toolherd search --json | jq -r '.servers[].name'",
  ],
  exits: {
    ok: 'ok, also when nothing is found',
    cannotReach: 'the registry cannot be reached',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options, output } = context;
    const query = args.query ?? '';
    const found = await registryOf(context).search(query, options.limit, options.cursor);
    noteOffline(context, found);
    for (const problem of found.skipped) output.note(`warning: skipped an invalid entry: ${problem}`);
    const { servers, nextCursor } = found;
    output.json(searchJson(found));
    const rows = servers.map((server) => [
      `${server.name}${server.status === 'deprecated' ? ' (deprecated)' : ''}`,
      server.version,
      waysOf(server).join(' ') || '-',
      firstLine(server.description),
    ]);
    output.print(
      rows.length === 0
        ? 'nothing found'
        : table(['NAME', 'VERSION', 'BY', 'DESCRIPTION'], rows, output.columns),
    );
    if (nextCursor !== undefined) {
      output.note(
        `more: toolherd search ${query === '' ? '' : `${shellWord(query)} `}--cursor ${shellWord(nextCursor)}`,
      );
    }
    return EXIT.ok;
  },
});
