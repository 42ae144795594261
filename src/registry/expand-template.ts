import { escapeDollars } from '../config/packages/package-command.js';
import { type DataMap, isMap } from '../config/parse/document.js';

/** A variable that the user has to set for an entry. */
export interface Requirement {
  name: string;
  description: string | undefined;
  isSecret: boolean;
  /** The server works without it. */
  isOptional: boolean;
}

export interface Expanded {
  text: string;
  needs: Requirement[];
}

/**
 * Turns the registry's `Bearer {token}` into `Bearer ${NAME}`, where the name is `nameOf('token')`. Known values are
 * filled in, defaults are kept, and dollar signs of the publisher stay literal.
 */
export function expandTemplate(
  template: string,
  input: DataMap,
  nameOf: (variable: string) => string,
): Expanded {
  const variables = isMap(input.variables) ? input.variables : {};
  const needs: Requirement[] = [];
  const text = escapeDollars(template).replaceAll(/\{([\w-]+)\}/g, (_, variable: string) => {
    const own = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    const about = isMap(own) ? own : {};
    if (typeof about.value === 'string') return escapeDollars(about.value);
    const reference = refer(nameOf(variable), about.default);
    needs.push(requirementOf(nameOf(variable), isMap(own) ? own : input, reference.isOptional));
    return reference.text;
  });
  return { text, needs };
}

export function requirementOf(name: string, about: DataMap, isOptional: boolean): Requirement {
  return {
    name,
    description: typeof about.description === 'string' ? about.description : undefined,
    isSecret: (about.isSecret ?? about.is_secret ?? about.secret) === true,
    isOptional,
  };
}

/**
 * `${NAME}` or `${NAME:-default}`. A default with a closing brace would end the reference, so it is written as plain
 * text.
 */
export function refer(name: string, fallback: unknown): { text: string; isOptional: boolean } {
  if (typeof fallback !== 'string') return { text: `\${${name}}`, isOptional: false };
  return {
    text: fallback.includes('}') ? escapeDollars(fallback) : `\${${name}:-${fallback}}`,
    isOptional: true,
  };
}
