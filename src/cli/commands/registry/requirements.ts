import type { Need } from '../../../registry/index.js';

/** A variable that a server asks for, as a person reads it. */
export function needLine({ name, isSecret, description }: Need): string {
  return `${name}${isSecret ? ' (secret)' : ''}${description === undefined ? '' : `: ${description}`}`;
}

/** The stable form for scripts. */
export function needJson({ name, description, isSecret, isOptional }: Need): Record<string, unknown> {
  return { name, description: description ?? null, secret: isSecret, required: !isOptional };
}
