import { stringify } from 'smol-toml';

/**
 * Edits TOML by lines: the entry becomes a table at the end of the file, and is removed from its header to the last line
 * of the table. attach.ts parses the result and checks it.
 */
export function setToml(text: string, keys: readonly string[], name: string, entry: unknown): string {
  const rest = removeToml(text, keys, name);
  const lines = stringify({ [rootOf(keys)]: { [name]: entry } }).trim();
  const separator = rest === '' || /\n\r?\n$/.test(rest) ? '' : rest.endsWith('\n') ? '\n' : '\n\n';
  const block = `${separator}${lines}\n`;
  return rest + (text.includes('\r\n') ? block.replaceAll('\n', '\r\n') : block);
}

export function removeToml(text: string, keys: readonly string[], name: string): string {
  const lines = text.split(/(?<=\n)/);
  const table = `${rootOf(keys)}.${name}`;
  const isOurs = (line: string) => `${headerOf(line)}.`.startsWith(`${table}.`);
  let result: string[] = [];
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? '';
    if (!isOurs(line)) {
      result.push(line);
      index += 1;
      continue;
    }
    const end = endOfTables(lines, index, isOurs);
    // At the end of the file the blank line above the table is removed too.
    if (end >= lines.length && result.at(-1)?.trim() === '') result = result.slice(0, -1);
    index = end;
  }
  return result.join('');
}

/** The index after the last line of a table and its subtables. Comments at its end belong to what follows. */
function endOfTables(lines: readonly string[], start: number, isOurs: (line: string) => boolean): number {
  let end = start + 1;
  for (let index = start + 1; index < lines.length; index += 1) {
    const line = (lines[index] ?? '').trim();
    if (headerOf(line) !== undefined && !isOurs(line)) break;
    if (line !== '' && !line.startsWith('#')) end = index + 1;
  }
  return end;
}

/** `a.b` for `[a.b]`, without quotes around the keys. */
function headerOf(line: string): string | undefined {
  const header = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
  return header?.replaceAll(/["'\s]/g, '');
}

function rootOf(keys: readonly string[]): string {
  return keys.join('.');
}
