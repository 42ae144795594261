import type { ParsedEntry, Report } from '../fields/parsed-entry.js';

const RENAME = 'rename one of the two, or remove one';

/**
 * Checks the names of one file. A manual entry overrides a registry entry of the same name, with a warning. Any other
 * duplicate name is an error, and so is the same registry server twice.
 */
export function uniqueEntries(entries: readonly ParsedEntry[], report: Report, warn: Report): ParsedEntry[] {
  const byName = new Map<string, ParsedEntry>();
  const byRegistryName = new Map<string, ParsedEntry>();
  const hasName = (entry: ParsedEntry) => entry.fields.name !== undefined;
  for (const entry of entries.filter(hasName)) {
    const registryName = entry.fields.registry_name as string | undefined;
    const same = registryName === undefined ? undefined : byRegistryName.get(registryName);
    if (registryName !== undefined && same === undefined) byRegistryName.set(registryName, entry);
    const other = byName.get(entry.name);
    if (same !== undefined)
      reportDuplicate(
        entry,
        same,
        `The registry server '${registryName}'`,
        "remove one of the two; to keep both, remove 'registry_name' from one and give it another name",
        report,
      );
    else if (other === undefined) byName.set(entry.name, entry);
    else chooseByOrigin(byName, entry, other, report, warn);
  }
  return entries.filter((entry) => !hasName(entry) || byName.get(entry.name) === entry);
}

function chooseByOrigin(
  byName: Map<string, ParsedEntry>,
  entry: ParsedEntry,
  other: ParsedEntry,
  report: Report,
  warn: Report,
): void {
  const isManual = (candidate: ParsedEntry) => candidate.fields.registry_name === undefined;
  if (isManual(entry) === isManual(other)) {
    reportDuplicate(entry, other, `The name '${entry.name}'`, RENAME, report);
    return;
  }
  const [winner, loser] = isManual(entry) ? [entry, other] : [other, entry];
  byName.set(entry.name, winner);
  const message = `'${entry.name}' from the registry (${loser.fields.registry_name}) is overridden by the manual entry`;
  warn(loser.document.problem('MCPConfigError', loser.at('name'), message, RENAME));
}

function reportDuplicate(
  entry: ParsedEntry,
  first: ParsedEntry,
  what: string,
  fix: string,
  report: Report,
): void {
  const { line } = first.document.position(first.path);
  const message = `${what} is used twice in this file (first in line ${line})`;
  report(entry.document.problem('MCPConfigError', entry.at('name'), message, fix));
}
