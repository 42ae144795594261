import {
  type Found,
  type FoundOne,
  type InstallOption,
  installOptions,
  isInstallable,
  type RegistryServer,
  type Requirement,
  type UnsupportedOption,
} from '../registry/index.js';

/** A variable that a server needs, for people. */
export function formatRequirement({ name, isSecret, description }: Requirement): string {
  return `${name}${isSecret ? ' (secret)' : ''}${description === undefined ? '' : `: ${description}`}`;
}

/** The stable form for scripts. */
export function requirementJson({
  name,
  description,
  isSecret,
  isOptional,
}: Requirement): Record<string, unknown> {
  return { name, description: description ?? null, secret: isSecret, required: !isOptional };
}

/** What `search` and `show` both have of a server, for scripts. */
function summaryJson(server: RegistryServer): Record<string, unknown> {
  const { name, title, description, version, status, publishedAt, updatedAt } = server;
  return {
    name,
    title: title ?? null,
    description,
    version,
    status,
    published_at: publishedAt ?? null,
    updated_at: updatedAt ?? null,
  };
}

/** The answer of `search` for scripts. */
export function searchJson({ servers, nextCursor, skipped, cachedAt }: Found): Record<string, unknown> {
  return {
    servers: servers.map((server) => ({ ...summaryJson(server), by: waysOf(server) })),
    next_cursor: nextCursor ?? null,
    skipped,
    cached_at: cachedAt ?? null,
  };
}

/** The answer of `show` for scripts. */
export function showJson({ server, cachedAt }: FoundOne): Record<string, unknown> {
  return {
    server: {
      ...summaryJson(server),
      repository: server.repository ?? null,
      website: server.website ?? null,
      ways: installOptions(server).map(wayJson),
    },
    cached_at: cachedAt ?? null,
  };
}

/** The kinds of its install options, each once. */
export function waysOf(server: RegistryServer): string[] {
  return [
    ...new Set(
      installOptions(server)
        .filter(isInstallable)
        .map(({ kind }) => kind),
    ),
  ];
}

function wayJson(way: InstallOption | UnsupportedOption): Record<string, unknown> {
  if (!isInstallable(way)) return { by: way.kind, server: way.server, refused: way.refused };
  const { kind, server, transport, fields, needs } = way;
  return { by: kind, server, transport, ...fields, needs: needs.map(requirementJson) };
}
