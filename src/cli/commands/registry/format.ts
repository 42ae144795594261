import type { RegistryServer, Requirement } from '../../../registry/index.js';

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
export function summaryJson(server: RegistryServer): Record<string, unknown> {
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
