import type { AuditPage, CallEvent, ToolFigures } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand, UsageError } from '../../core/command.js';
import { table } from '../../ui/table.js';

export const command = defineCommand({
  name: 'audit',
  summary: 'Shows the calls of all agents: who called what, how long it took, how it ended.',
  details: `It searches the audit files, the newest call first. They have the names of
servers, tools and clients, and of arguments only names and types.
One search reads the newest 16 MB. A note says where it ended; --before goes on
from there.
With --agent FILE it shows the calls of that agent.yaml alone.`,
  options: {
    server: { type: 'string', label: 'SERVER', complete: 'any server', about: 'only calls of this server' },
    tool: { type: 'string', label: 'TOOL', about: 'only calls of this tool, by its own name' },
    client: { type: 'string', label: 'NAME', about: 'only calls of clients of this name' },
    caller: { type: 'string', label: 'NAME', about: "only calls of this connection: 'connection 3'" },
    profile: { type: 'string', label: 'NAME', about: 'only calls of connections with this profile' },
    outcome: { type: 'string', choices: ['ok', 'failed'], about: 'only calls that ended like this' },
    text: { type: 'string', label: 'TEXT', about: 'only calls with this in a name, an error or an id' },
    since: { type: 'duration', label: '10m', about: 'only calls that are not older' },
    limit: {
      type: 'integer',
      short: 'n',
      min: 1,
      max: 1000,
      default: 50,
      about: 'how many calls at most (default: 50)',
    },
    before: { type: 'string', label: 'PLACE', about: 'only calls before this place, from "next" of --json' },
    slowest: { type: 'boolean', about: 'the slowest tools instead of calls' },
    failing: { type: 'boolean', about: 'the tools that fail most instead of calls' },
  },
  examples: [
    'toolherd audit',
    'toolherd audit --server github --outcome failed --since 1h',
    'toolherd audit --client claude-code -n 200',
    'toolherd audit --slowest',
    "toolherd audit --failing --json | jq '.failing'",
  ],
  exits: { ok: 'ok, also when there are none', notRunning: 'no daemon runs' },
  async run(context) {
    const { options, output, globals } = context;
    const { since, slowest, failing, ...filters } = options;
    if (slowest && failing)
      throw new UsageError('--slowest and --failing are two tables', 'leave out one of them');
    const viewMode = globals.agent === undefined ? 'herd' : 'agent';
    const fleet = await context.fleet({ autostart: false, viewMode });
    const page = await fleet.audit({
      ...filters,
      since: since === undefined ? undefined : new Date(Date.now() - since).toISOString(),
    });
    output.json({ ...page });
    const { columns } = output;
    if (slowest || failing) {
      const figures = slowest ? page.slowest : page.failing;
      if (figures.length > 0) output.print(figuresTable(figures, columns));
      else output.note(slowest ? 'no tool was called' : 'no tool has failed');
    } else if (page.calls.length > 0) output.print(callsTable(page.calls, columns));
    else output.note('no call was found');
    output.note(searchedText(page));
    return EXIT.ok;
  },
});

export function callsTable(calls: readonly CallEvent[], columns?: number): string {
  const rows = calls.map((call) => [
    call.at,
    call.client?.name ?? call.caller ?? call.via,
    call.server || '-',
    call.tool ?? call.method,
    `${call.duration_ms}ms`,
    call.ok ? 'ok' : `${call.error ?? 'failed'}${call.code === null ? '' : ` (${call.code})`}`,
  ]);
  return table(['AT', 'CLIENT', 'SERVER', 'TOOL', 'TOOK', 'OUTCOME'], rows, columns);
}

export function figuresTable(figures: readonly ToolFigures[], columns?: number): string {
  const rows = figures.map(({ server, tool, calls, failures, p50_ms, p99_ms }) => [
    ...[server, tool, String(calls), String(failures), `${p50_ms}ms`, `${p99_ms}ms`],
  ]);
  return table(['SERVER', 'TOOL', 'CALLS', 'FAILED', 'P50', 'P99'], rows, columns);
}

function searchedText({ searched: { from, records, complete }, next }: AuditPage): string {
  const since = from === null ? '' : ` since ${from}`;
  const more = next === null ? '' : `; older ones: --before ${next}`;
  return `${records} ${records === 1 ? 'record' : 'records'}${since} searched${complete ? '' : ', not all'}${more}`;
}
