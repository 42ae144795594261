import { basename } from 'node:path';

/** What a reference may need to know of the place it stands in, and whom it tells what became of it. */
export interface ReferenceContext {
  /** What stands for the folder of the project, ready to be written. */
  workspace: string;
  /** Its last part; undefined where the file belongs to no project. */
  basename: string | undefined;
  remark(text: string): void;
}

/** A string of a client's file in our spelling: its variables as `${NAME}`, every other dollar sign as itself. */
export type References = (source: string, context: ReferenceContext) => string;

/** A dollar sign that we would take for the start of a reference is doubled; so is a last one, before what follows. */
export function literal(text: string): string {
  return text.replaceAll(/\$(?=[${]|$)/g, '$$$$');
}

/** The client knows no variables. */
export const noReferences: References = (source) => literal(source);

/** `${NAME}` and `${NAME:-default}`, as here. */
export const shellReferences: References = (source, context) =>
  translate(source, /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g, ([whole, name]) =>
    name === 'CLAUDE_PROJECT_DIR' ? context.workspace : whole,
  );

/** The same, and `$NAME` beside it. */
export const bareReferences: References = (source) =>
  translate(
    source,
    /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}|\$([A-Za-z_]\w*)/g,
    ([, braced, fallback = '', bare]) => `\${${braced ?? bare}${fallback}}`,
  );

/** `${env:NAME}`, `${input:id}` and the names of folders, as VS Code has them and editors like it. */
export const editorReferences: References = (source, context) =>
  translate(source, /\$\{([^}]*)\}/g, ([whole, inside = '']) => editorReference(whole, inside, context));

function editorReference(whole: string, inside: string, context: ReferenceContext): string {
  if (inside === 'userHome') return whole;
  if (inside === 'workspaceFolder') return context.workspace;
  if (inside === 'workspaceFolderBasename' && context.basename !== undefined)
    return literal(context.basename);
  if (inside === 'pathSeparator' || inside === '/') return '/';
  const [, kind = '', rest = ''] = /^(?:(\w+):)?(.*)$/s.exec(inside) ?? [];
  // Upper and lower case are different variables.
  if (kind === 'env' && isVariable(rest)) return `\${${rest}}`;
  const name = variableName(kind === 'file' ? basename(rest) : rest);
  if (kind !== 'env' && kind !== '') context.remark(`\${${inside}} is the variable ${name} here`);
  return `\${${name}}`;
}

/** `{env:NAME}` and `{file:path}`. */
export const bracedReferences: References = (source, context) =>
  translate(source, /\{(env|file):([^}]+)\}/g, ([whole, kind, rest = '']) => {
    if (kind === 'env') return `\${${isVariable(rest) ? rest : variableName(rest)}}`;
    const name = variableName(basename(rest));
    context.remark(`${whole} is the variable ${name} here`);
    return `\${${name}}`;
  });

/** A name that a variable can have. One that can be is left alone. */
export function variableName(text: string): string {
  if (isVariable(text)) return text.includes('_') || /[A-Z]/.test(text) ? text : text.toUpperCase();
  return text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .replace(/^(?=\d|$)/, '_');
}

function isVariable(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

function translate(source: string, pattern: RegExp, reference: (match: RegExpExecArray) => string): string {
  let text = '';
  let end = 0;
  for (const match of source.matchAll(pattern)) {
    text += literal(source.slice(end, match.index)) + reference(match);
    end = match.index + match[0].length;
  }
  return text + literal(source.slice(end));
}
