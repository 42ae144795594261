import { escapeDollars } from '../config/entry/package-command.js';
import { type DataMap, isMap } from '../config/parse/document.js';

/** A variable of the user's that an entry asks for. */
export interface Requirement {
  name: string;
  description: string | undefined;
  isSecret: boolean;
  /** It can do without. */
  isOptional: boolean;
}

export interface Expanded {
  text: string;
  needs: Requirement[];
}

/**
 * The registry's `Bearer {token}` as `Bearer ${NAME}`, the name made by `nameOf('token')`. What is known already is filled
 * in, what has a default keeps it, and a dollar sign of the publisher's stays one.
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

/** `${NAME}`, or with a default. One that holds a brace would end too early: then it stands there by itself. */
export function refer(name: string, fallback: unknown): { text: string; isOptional: boolean } {
  if (typeof fallback !== 'string') return { text: `\${${name}}`, isOptional: false };
  return {
    text: fallback.includes('}') ? escapeDollars(fallback) : `\${${name}:-${fallback}}`,
    isOptional: true,
  };
}

/** Words as the name of a variable: `my-server`, `token` → `MY_SERVER_TOKEN`. */
export function variableName(...words: string[]): string {
  const name = words
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_');
  return name.replace(/^(?=\d)/, '_');
}
