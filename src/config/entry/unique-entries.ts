import type { ParsedEntry, Report } from '../entry/parsed-entry.js';

/**
 * The names of one file. A manual entry beats a registry entry of the same name, with a warning; any other
 * repetition is an error, and so is one registry server that stands there twice.
 */
export function uniqueEntries(drafts: readonly ParsedEntry[], report: Report, warn: Report): ParsedEntry[] {
  const byName = new Map<string, ParsedEntry>();
  const byRegistryName = new Map<string, ParsedEntry>();
  const hasName = (draft: ParsedEntry) => draft.fields.name !== undefined;
  for (const draft of drafts.filter(hasName)) {
    const registryName = draft.fields.registry_name as string | undefined;
    const same = registryName === undefined ? undefined : byRegistryName.get(registryName);
    if (registryName !== undefined && same === undefined) byRegistryName.set(registryName, draft);
    const other = byName.get(draft.name);
    if (same !== undefined) repeated(draft, same, `The registry server '${registryName}'`, report);
    else if (other === undefined) byName.set(draft.name, draft);
    else settle(byName, draft, other, report, warn);
  }
  return drafts.filter((draft) => !hasName(draft) || byName.get(draft.name) === draft);
}

function settle(
  byName: Map<string, ParsedEntry>,
  draft: ParsedEntry,
  other: ParsedEntry,
  report: Report,
  warn: Report,
): void {
  const isManual = (candidate: ParsedEntry) => candidate.fields.registry_name === undefined;
  if (isManual(draft) === isManual(other)) {
    repeated(draft, other, `The name '${draft.name}'`, report);
    return;
  }
  const [winner, loser] = isManual(draft) ? [draft, other] : [other, draft];
  byName.set(draft.name, winner);
  const message = `'${draft.name}' from the registry (${loser.fields.registry_name}) is overridden by the manual entry`;
  warn(
    loser.document.problem(
      'MCPConfigError',
      loser.at('name'),
      message,
      'rename one of the two, or remove one',
    ),
  );
}

function repeated(draft: ParsedEntry, first: ParsedEntry, what: string, report: Report): void {
  const { line } = first.document.place(first.path);
  const message = `${what} stands in this file twice (first in line ${line})`;
  report(
    draft.document.problem(
      'MCPConfigError',
      draft.at('name'),
      message,
      'rename one of the two, or remove one',
    ),
  );
}
