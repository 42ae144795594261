/**
 * What may stand between server and tool in a public name. Model providers accept letters, digits, `_` and `-`; MCP also
 * allows `.`, which some clients replace before they pass a name to the model.
 */
export const SEPARATORS = ['__', '_', '-', '.'] as const;

export type Separator = (typeof SEPARATORS)[number];

export const DEFAULT_SEPARATOR = '__' satisfies Separator;

/** Between the name of a herd and that of its server: `desk/browser`. */
export const HERD_SEPARATOR = '/';

/**
 * How a public name is written: by its separator, or `dotted`, the `__` of earlier versions, which kept dots. Callers may
 * still use dotted names; no list has them.
 */
export type NameForm = Separator | 'dotted';

/** How the public names of a server begin. */
export function publicNamePrefix(server: string, form: NameForm): string {
  return joinNames(server, '', form);
}

/**
 * The names of a server and a tool as one, in characters that every provider accepts. The server `desk/browser` of another
 * herd begins with `desk__browser`. Clients that join names by `__` refuse it elsewhere, so only the form that has it as
 * separator keeps it.
 */
export function joinNames(server: string, tool: string, form: NameForm): string {
  const separator = form === 'dotted' ? DEFAULT_SEPARATOR : form;
  const odd = form === 'dotted' ? /[^A-Za-z0-9_.-]/g : /[^A-Za-z0-9_-]/g;
  const owner = form === 'dotted' ? server : server.replaceAll(HERD_SEPARATOR, DEFAULT_SEPARATOR);
  const name = [owner, tool].map((part) => part.replaceAll(odd, '-')).join(separator);
  return separator === DEFAULT_SEPARATOR ? name : name.replaceAll(/__+/g, '_');
}
