import { stringify } from 'smol-toml';

/**
 * TOML is edited by its lines: a table of its own at the end of the file, taken out again from its header to the last
 * line that is its own. Whether the result says what it should is checked by reading it (see attach.ts).
 */
export function setToml(text: string, keys: readonly string[], name: string, entry: unknown): string {
  const without = removeToml(text, keys, name);
  const lines = stringify({ [rootOf(keys)]: { [name]: entry } }).trim();
  const apart = without === '' || /\n\r?\n$/.test(without) ? '' : without.endsWith('\n') ? '\n' : '\n\n';
  const block = `${apart}${lines}\n`;
  return without + (text.includes('\r\n') ? block.replaceAll('\n', '\r\n') : block);
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
    // The blank line that set it off goes with it, where nothing follows that it would still set off.
    if (end >= lines.length && result.at(-1)?.trim() === '') result = result.slice(0, -1);
    index = end;
  }
  return result.join('');
}

/** Behind the last line of a table and of those within it that is no comment on what follows. */
function endOfTables(lines: readonly string[], start: number, isOurs: (line: string) => boolean): number {
  let end = start + 1;
  for (let index = start + 1; index < lines.length; index += 1) {
    const line = (lines[index] ?? '').trim();
    if (headerOf(line) !== undefined && !isOurs(line)) break;
    if (line !== '' && !line.startsWith('#')) end = index + 1;
  }
  return end;
}

/** `a.b` for `[a.b]`, with the quotes that a key may wear taken off. */
function headerOf(line: string): string | undefined {
  const header = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
  return header?.replaceAll(/["'\s]/g, '');
}

function rootOf(keys: readonly string[]): string {
  return keys.join('.');
}
