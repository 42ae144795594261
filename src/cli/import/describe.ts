import type { BrokenFile } from '../../clients/index.js';
import { table } from '../table.js';
import type { Planned } from './plan.js';

/** What was found, a line a server. */
export function planTable(plan: readonly Planned[], columns: number | undefined): string {
  const rows = plan.map(({ found, entry, result, why }) => [
    found.client.name,
    entry.name,
    transportOf(entry),
    why === undefined ? result : `${result}: ${why}`,
    runs(entry),
  ]);
  return table(['FROM', 'NAME', 'TRANSPORT', 'RESULT', 'RUNS'], rows, columns);
}

/** What a person should know of a server that is taken over. */
export function remarksOf({ found, entry, unset }: Planned): string[] {
  const { homeless, remarks, client } = found;
  const fields = homeless.length === 1 ? 'field' : 'fields';
  const lines = [
    ...(homeless.length === 0
      ? []
      : [`no home here for the ${fields} ${homeless.join(', ')} of ${client.title}`]),
    ...remarks,
    ...unset.map(({ name, from }) =>
      from === undefined ? `set ${name}` : `set ${name} (its value stands in ${from})`,
    ),
    ...(unset.length === 0 ? [] : ["then take out 'enabled: false'"]),
  ];
  return lines.map((line) => `  ${entry.name}: ${line}`);
}

export function brokenText({ client, message, why, fix }: BrokenFile): string {
  return `warning: ${client.title}: ${message}${why === undefined ? '' : `: ${why}`}${fix === undefined ? '' : `; ${fix}`}`;
}

/** The stable form for scripts. */
export function plannedJson({ found, entry, unset, command, result, why }: Planned): Record<string, unknown> {
  const { client, file, path, name, homeless, remarks } = found;
  return {
    from: client.name,
    file,
    path,
    name: entry.name,
    original_name: name,
    transport: transportOf(entry),
    entry,
    result,
    why: why ?? null,
    needs_command: command ?? null,
    without_home: homeless,
    remarks,
    set: unset.map(({ name: variable, from }) => ({ name: variable, value_stands_in: from ?? null })),
  };
}

function transportOf({ transport = 'stdio' }: Record<string, unknown>): string {
  return String(transport);
}

/** What it runs or reaches, as it would be written: secrets are names. */
function runs({ command, args, url }: Record<string, unknown>): string {
  if (url !== undefined) return String(url);
  return [command ?? '-', ...(Array.isArray(args) ? args : [])].map(String).join(' ');
}
