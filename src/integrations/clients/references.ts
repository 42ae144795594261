import { basename } from 'node:path';
import { importedVariableName, isVariableName } from '../../config/variables/names.js';

/** What the translation of a reference needs to know about the file, and where it reports changes. */
export interface ReferenceContext {
  /** The text that replaces a reference to the project folder. */
  workspace: string;
  /** The last part of the project folder; undefined for a user file. */
  basename: string | undefined;
  remark(text: string): void;
}

/** Translates a string of a client's file: its variables become `${NAME}`, every other dollar sign stays literal. */
export type References = (source: string, context: ReferenceContext) => string;

/** Doubles a dollar sign that would start a reference, and a final one, since a reference may be appended. */
export function literal(text: string): string {
  return text.replaceAll(/\$(?=[${]|$)/g, '$$$$');
}

/** For clients without variables. */
export const noReferences: References = (source) => literal(source);

/** `${NAME}` and `${NAME:-default}`, the same as ours. */
export const shellReferences: References = (source, context) =>
  translate(source, /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g, ([whole, name]) =>
    name === 'CLAUDE_PROJECT_DIR' ? context.workspace : whole,
  );

/** `${NAME}`, `${NAME:-default}` and `$NAME`. */
export const bareReferences: References = (source) =>
  translate(
    source,
    /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}|\$([A-Za-z_]\w*)/g,
    ([, braced, fallback = '', bare]) => `\${${braced ?? bare}${fallback}}`,
  );

/** `${env:NAME}`, `${input:id}` and folder variables, as in VS Code and editors based on it. */
export const editorReferences: References = (source, context) =>
  translate(source, /\$\{([^}]*)\}/g, ([whole, inside = '']) => editorReference(whole, inside, context));

function editorReference(whole: string, inside: string, context: ReferenceContext): string {
  if (inside === 'userHome') return whole;
  if (inside === 'workspaceFolder') return context.workspace;
  if (inside === 'workspaceFolderBasename' && context.basename !== undefined)
    return literal(context.basename);
  if (inside === 'pathSeparator' || inside === '/') return '/';
  const [, kind = '', rest = ''] = /^(?:(\w+):)?(.*)$/s.exec(inside) ?? [];
  // The case stays: variable names are case-sensitive.
  if (kind === 'env' && isVariableName(rest)) return `\${${rest}}`;
  const name = importedVariableName(kind === 'file' ? basename(rest) : rest);
  if (kind !== 'env' && kind !== '') context.remark(`\${${inside}} is the variable ${name} here`);
  return `\${${name}}`;
}

/** `${{ secrets.NAME }}`, as in Continue. */
export const templateReferences: References = (source, context) =>
  translate(source, /\$\{\{\s*(?:\w+\.)?([^{}\s]+)\s*\}\}/g, ([whole, path = '']) => {
    const name = importedVariableName(path);
    if (name !== path) context.remark(`${whole} is the variable ${name} here`);
    return `\${${name}}`;
  });

/** `{env:NAME}` and `{file:path}`. */
export const bracedReferences: References = (source, context) =>
  translate(source, /\{(env|file):([^}]+)\}/g, ([whole, kind, rest = '']) => {
    if (kind === 'env') return `\${${isVariableName(rest) ? rest : importedVariableName(rest)}}`;
    const name = importedVariableName(basename(rest));
    context.remark(`${whole} is the variable ${name} here`);
    return `\${${name}}`;
  });

function translate(source: string, pattern: RegExp, reference: (match: RegExpExecArray) => string): string {
  let text = '';
  let end = 0;
  for (const match of source.matchAll(pattern)) {
    text += literal(source.slice(end, match.index)) + reference(match);
    end = match.index + match[0].length;
  }
  return text + literal(source.slice(end));
}
