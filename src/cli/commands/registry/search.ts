import { installOptions, isInstallable, type RegistryServer } from '../../../registry/index.js';
import { shellWord } from '../../../shared/shell-word.js';
import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { firstLine } from '../../ui/first-line.js';
import { table } from '../../ui/table.js';
import { noteOffline, registryOf } from './lookup.js';

const DEFAULT_LIMIT = 20;
const MOST = 1000;

export const verb: Command = {
  usage: 'search [QUERY] [--limit N] [--cursor C]',
  about: `Finds servers in the registry whose name contains QUERY; without it, all. Each is shown in its latest version, with the
ways to run or reach it (npm, pypi, oci; http, sse).`,
  help: `Examples:
  toolherd search filesystem
  toolherd search github --limit 5
  toolherd search --json | jq -r '.servers[].name'

Where the registry cannot be reached, what it said before is shown, and said to be old. TOOLHERD_REGISTRY or daemon.registry names
another registry.

Exit status: 0 ok (also when nothing is found), 69 the registry cannot be reached, 124 --timeout.`,
  options: { limit: { type: 'string' }, cursor: { type: 'string' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const query = args[0] ?? '';
    const cursor = typeof flags.cursor === 'string' ? flags.cursor : undefined;
    const found = await registryOf(call).search(query, parseLimit(flags.limit), cursor);
    noteOffline(call, found);
    for (const problem of found.skipped) output.note(`warning: left out, it makes no sense: ${problem}`);
    const { servers, nextCursor, skipped, cachedAt } = found;
    output.json({
      servers: servers.map(summary),
      next_cursor: nextCursor ?? null,
      skipped,
      cached_at: cachedAt ?? null,
    });
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
};

function parseLimit(value: unknown): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const limit = Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${MOST}`, 'for example --limit 50');
}

function summary(server: RegistryServer): Record<string, unknown> {
  const { name, title, description, version, status, publishedAt, updatedAt } = server;
  return {
    name,
    title: title ?? null,
    description,
    version,
    status,
    by: waysOf(server),
    published_at: publishedAt ?? null,
    updated_at: updatedAt ?? null,
  };
}

/** Each way once. */
function waysOf(server: RegistryServer): string[] {
  return [
    ...new Set(
      installOptions(server)
        .filter(isInstallable)
        .map(({ kind }) => kind),
    ),
  ];
}
