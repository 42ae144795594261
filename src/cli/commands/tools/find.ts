import type { ToolMatch } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand, UsageError } from '../../core/command.js';
import { table } from '../../ui/table.js';
import { firstLine, singleLine, truncate } from '../../ui/text.js';
import { showStartProgress } from './progress.js';

/** A tool with many arguments leaves room for its description. */
const SIGNATURE_COLUMNS = 60;

export const command = defineCommand({
  name: 'find',
  summary: 'Finds tools of the herd by what they do.',
  details: `QUERY is a few words or a sentence. It is compared with the names, descriptions
and arguments of all tools; word forms and common synonyms count as equal. The
best tool is the first. A tool that was called before wins over an equal one.
Agents in search mode find tools in the same way, with search_tools; see
--surface of "toolherd bridge".
A server that has never run is started. An idle server is not started: its last
known tools are searched.
Without a result it says why: servers that do not run, tools that the config
hides or that pins block; and which words of tools are similar.
"toolherd search" finds servers in the registry.`,
  args: { query: { many: true } },
  options: {
    server: { type: 'string', label: 'SERVER', complete: 'server', about: 'only tools of this server' },
    limit: { type: 'integer', min: 1, max: 100, default: 10, about: 'how many (default: 10)' },
  },
  examples: [
    'toolherd find read a file',
    'toolherd find "create an issue" --server github',
    "toolherd find weather --json | jq -r '.tools[].exposed_name'",
  ],
  exits: {
    ok: 'ok, also when nothing is found',
    failed: 'the tools of the named server are not known',
    notFound: 'no such server',
    badConfig: 'the entry of the named server cannot be resolved',
  },
  async run(context) {
    const { args, options, output } = context;
    const query = args.query.join(' ');
    if (query.trim() === '')
      throw new UsageError('the query is empty', 'say what the tool does: toolherd find read a file');
    const fleet = await context.fleet();
    const { server, limit } = options;
    const asked = fleet.search({ query, limit, server });
    const found = await showStartProgress(context, fleet, server, asked);
    const { tools, missing, hints } = found;
    output.json({ ...found });
    for (const hint of hints) output.note(singleLine(hint));
    const rows = tools.map((tool) => [head(tool), firstLine(tool.description)]);
    output.print(rows.length === 0 ? 'nothing found' : table(['TOOL', 'DESCRIPTION'], rows, output.columns));
    for (const one of missing) output.note(singleLine(`missing: ${one.server}: ${one.reason}`));
    const isUnknown = server !== undefined && tools.length === 0 && missing.length > 0;
    return isUnknown ? EXIT.failed : EXIT.ok;
  },
});

function head({ server, signature }: ToolMatch): string {
  return truncate(singleLine(`${server}.${signature}`), SIGNATURE_COLUMNS);
}
