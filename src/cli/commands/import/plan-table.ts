import type { ConfigFile } from '../../../install/config-target.js';
import type { BrokenFile } from '../../../integrations/index.js';
import { shellWord } from '../../../shared/text/shell-word.js';
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
export function remarksOf(one: Planned, target: ConfigFile): string[] {
  const { found, entry, result, why } = one;
  const lines = why === undefined ? remarksOfNew(one, target) : [`${result}: ${why}`];
  return lines.map((line) => `  ${found.client.name} ${singleLine(entry.name)}: ${singleLine(line)}`);
}

function remarksOfNew(one: Planned, target: ConfigFile): string[] {
  const { found, entry, unset, command } = one;
  const { unsupportedFields, remarks, client } = found;
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
    ...disabledRemark(one, enableCommand(entry.name, target)),
  ];
}

function disabledRemark({ found, unset }: Planned, enable: string): string[] {
  // a server that its client had disabled is not missed
  if (found.entry.enabled === false) return [`disabled, as in ${found.client.title}; to use it: ${enable}`];
  return unset.length === 0 ? [] : [`disabled until then; when the variables are set: ${enable}`];
}

function enableCommand(name: string, { scope, file }: ConfigFile): string {
  const flag = scope === 'global' ? '-g' : `--agent ${shellWord(file)}`;
  return `toolherd enable ${shellWord(name)} ${flag}`;
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
