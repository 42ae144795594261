/** What identifies an entry. An entry without a registry name was written by hand. */
export interface EntryName {
  name?: string | undefined;
  registryName?: string | undefined;
}

export type DuplicateCheck<Existing extends EntryName = EntryName> =
  /** No conflict. */
  | { kind: 'free' }
  /** The same server is in the file: nothing is written. */
  | { kind: 'duplicate'; by: 'registry_name' | 'name'; existing: Existing }
  /** Another registry server has the short name: nothing is written; `--name` gives another one. */
  | { kind: 'name-taken'; existing: Existing }
  /** One of the two was written by hand and wins: the entry is written, with a warning. */
  | { kind: 'manual-wins'; manual: 'existing' | 'candidate'; existing: Existing };

/**
 * Of several conflicts the gravest counts: a duplicate, then a taken name, then an override. A registry server is the
 * same under any name.
 */
export function duplicateOf<Existing extends EntryName>(
  existing: readonly Existing[],
  candidate: { name: string; registryName?: string | undefined },
): DuplicateCheck<Existing> {
  const { name, registryName } = candidate;
  const fromRegistry = isFromRegistry(candidate);
  const sameServer = fromRegistry && existing.find((entry) => entry.registryName === registryName);
  if (sameServer) return { kind: 'duplicate', by: 'registry_name', existing: sameServer };

  const namesakes = existing.filter((entry) => entry.name === name);
  const sameOrigin = namesakes.find((entry) => isFromRegistry(entry) === fromRegistry);
  if (sameOrigin) {
    return fromRegistry
      ? { kind: 'name-taken', existing: sameOrigin }
      : { kind: 'duplicate', by: 'name', existing: sameOrigin };
  }
  const other = namesakes[0];
  if (other === undefined) return { kind: 'free' };
  return { kind: 'manual-wins', manual: fromRegistry ? 'existing' : 'candidate', existing: other };
}

function isFromRegistry(entry: EntryName): boolean {
  return entry.registryName !== undefined && entry.registryName !== '';
}

/** In the words of the specification, hence another form than our own warnings. */
export function shortNameWarning(
  candidate: { name: string; registryName: string },
  existing: { registryName: string },
): string {
  return [
    `⚠️  Warning: Server '${candidate.name}' (${candidate.registryName}) has the same`,
    `    short name as existing server (${existing.registryName}).`,
    '    Consider using --name to specify a unique name.',
  ].join('\n');
}
