import type { BrokenFile } from '../../../integrations/index.js';
import { table } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import type { Planned } from './plan.js';

/** One line for each server. */
export function planTable(plan: readonly Planned[], columns: number | undefined): string {
  const rows = plan.map(({ found, entry, result }) => [
    found.client.name,
    entry.name,
    transportOf(entry),
    result,
    runs(entry),
  ]);
  return table(['FROM', 'NAME', 'TRANSPORT', 'RESULT', 'RUNS'], rows, columns);
}

/** What the user should know about a server. */
export function remarksOf(one: Planned): string[] {
  const { found, entry, result, why } = one;
  const lines = why === undefined ? remarksOfNew(one) : [`${result}: ${why}`];
  return lines.map((line) => `  ${found.client.name} ${singleLine(entry.name)}: ${singleLine(line)}`);
}

function remarksOfNew({ found: { unsupportedFields, remarks, client }, unset, command }: Planned): string[] {
  const fields = unsupportedFields.length === 1 ? 'field' : 'fields';
  return [
    ...(unsupportedFields.length === 0
      ? []
      : [`toolherd has no equivalent for the ${fields} ${unsupportedFields.join(', ')} of ${client.title}`]),
    ...remarks,
    ...(command === undefined ? [] : [`the command ${command} is not allowed yet`]),
    ...unset.map(({ name, from }) =>
      from === undefined ? `set ${name}` : `set ${name} (its value is in ${from})`,
    ),
    ...(unset.length === 0
      ? []
      : ["written with 'enabled: false'; remove that line when the variables are set"]),
  ];
}

export function brokenText({ client, message, why, fix }: BrokenFile): string {
  return `warning: ${client.title}: ${message}${why === undefined ? '' : `: ${why}`}${fix === undefined ? '' : `; ${fix}`}`;
}

/** The stable form for scripts. */
export function plannedJson({ found, entry, unset, command, result, why }: Planned): Record<string, unknown> {
  const { client, file, path, name, unsupportedFields, remarks } = found;
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
    without_home: unsupportedFields,
    remarks,
    set: unset.map(({ name: variable, from }) => ({ name: variable, value_stands_in: from ?? null })),
  };
}

function transportOf({ transport = 'stdio' }: Record<string, unknown>): string {
  return String(transport);
}

/** What it runs or connects to, as it would be written: without secrets. */
function runs({ command, args, url }: Record<string, unknown>): string {
  if (url !== undefined) return String(url);
  return [command ?? '-', ...(Array.isArray(args) ? args : [])].map(String).join(' ');
}
