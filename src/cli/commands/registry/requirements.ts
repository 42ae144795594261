import type { Requirement } from '../../../registry/index.js';

/** A variable that a server asks for, as a person reads it. */
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
