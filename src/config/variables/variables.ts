/**
 * Variables in strings: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}`, `${userHome}`, `$$`. No bare
 * `$VAR`, no recursion, no command substitution: the value of a variable is used as it is.
 */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'variable'; name: string; fallback: string | undefined }
  | { kind: 'folder' }
  | { kind: 'home' }
  | { kind: 'malformed'; text: string };

const REFERENCE = /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/;

/** Splits a string at its references. */
export function parseReferences(source: string): Part[] {
  const parts: Part[] = [];
  let rest = source;
  const literal = (text: string) => {
    const last = parts.at(-1);
    if (last?.kind === 'text') last.text += text;
    else if (text !== '') parts.push({ kind: 'text', text });
  };
  while (rest !== '') {
    const dollar = rest.indexOf('$');
    if (dollar === -1) {
      literal(rest);
      break;
    }
    literal(rest.slice(0, dollar));
    rest = rest.slice(dollar);
    const used = reference(rest);
    if (typeof used.part === 'string') literal(used.part);
    else parts.push(used.part);
    rest = rest.slice(used.length);
  }
  return parts;
}

/** The reference at the start of a text that begins with `$`. */
function reference(text: string): { part: Part | string; length: number } {
  if (text.startsWith('$$')) return { part: '$', length: 2 };
  if (!text.startsWith('${')) return { part: '$', length: 1 };
  if (text.startsWith('${workspaceFolder}')) return { part: { kind: 'folder' }, length: 18 };
  if (text.startsWith('${userHome}')) return { part: { kind: 'home' }, length: 11 };
  const match = REFERENCE.exec(text);
  if (match !== null) {
    // These variables are always set, so a default is ignored.
    if (text.startsWith('${workspaceFolder:-')) return { part: { kind: 'folder' }, length: match[0].length };
    if (text.startsWith('${userHome:-')) return { part: { kind: 'home' }, length: match[0].length };
    return { part: { kind: 'variable', name: match[1]!, fallback: match[2] }, length: match[0].length };
  }
  const end = text.indexOf('}');
  const length = end === -1 ? text.length : end + 1;
  return { part: { kind: 'malformed', text: text.slice(0, length) }, length };
}

export function hasReferences(source: string): boolean {
  return source.includes('$') && parseReferences(source).some((part) => part.kind !== 'text');
}

/** The label of the environment of the process that reads the file. */
export const ENVIRONMENT = 'environment';

/** Where values come from, nearest first. */
export interface VariableSource {
  /** Shown to a person: `env`, `.env`, `environment`. */
  label: string;
  values: Readonly<Record<string, string | undefined>>;
}

export interface VariableScope {
  sources: readonly VariableSource[];
  workspaceFolder: string;
  userHome: string;
}

export interface VariableUse {
  name: string;
  /** Undefined when the variable is unset and has no default. */
  value: string | undefined;
  /** The source's label, or `default`. */
  from: string | undefined;
}

/** Expands the references. Unset and malformed ones are reported and left out of the text. */
export function expand(
  source: string,
  scope: VariableScope,
): { text: string; uses: VariableUse[]; malformed: string[] } {
  const uses: VariableUse[] = [];
  const malformed: string[] = [];
  let text = '';
  for (const part of parseReferences(source)) {
    if (part.kind === 'text') text += part.text;
    else if (part.kind === 'folder') text += scope.workspaceFolder;
    else if (part.kind === 'home') text += scope.userHome;
    else if (part.kind === 'malformed') malformed.push(part.text);
    else {
      const use = lookUp(part.name, part.fallback, scope.sources);
      uses.push(use);
      text += use.value ?? '';
    }
  }
  return { text, uses, malformed };
}

function lookUp(name: string, fallback: string | undefined, sources: readonly VariableSource[]): VariableUse {
  for (const { label, values } of sources) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) continue;
    // As in a shell, `:-` also replaces an empty value.
    if (value === '' && fallback !== undefined) break;
    return { name, value, from: label };
  }
  return { name, value: fallback, from: fallback === undefined ? undefined : 'default' };
}
