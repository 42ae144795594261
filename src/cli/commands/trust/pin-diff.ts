import type { PinnedVersion, ToolPin } from '../../../fleet/fleet.js';
import { escapeInvisible } from '../../ui/text.js';

const CONTEXT = 2;
/** What is cut off is no JSON that could be laid out, so it is broken into lines as it comes. */
const LINE = /.{1,100}/gsu;

/** How a tool differs from what was pinned, part by part, each line marked as `diff` marks it. */
export function pinDiff({ pinned, offered }: Pick<ToolPin, 'pinned' | 'offered'>): string[] {
  const [before, after] = [partsOf(pinned), partsOf(offered)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const shown = names.flatMap((name) => {
    const [old = [], now = []] = [before.get(name), after.get(name)];
    const lines = hunk(old, now);
    return lines.length === 0 ? [] : [`@@ ${escapeInvisible(name)} @@`, ...lines];
  });
  return shown.length > 0 ? shown : ['(they differ in what is not shown: a secret)'];
}

/** The members of a definition as lines: text by its own lines, everything else as JSON. */
function partsOf(version: PinnedVersion | null): Map<string, string[]> {
  if (version === null) return new Map();
  const { definition, excerpt, hash } = version;
  if (definition === undefined) {
    return new Map([
      ['definition', [...(excerpt?.match(LINE) ?? []), `(too long to be shown; sha256 ${hash})`]],
    ]);
  }
  return new Map(
    Object.entries(definition).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return [name, text.split('\n')];
    }),
  );
}

function hunk(old: readonly string[], now: readonly string[]): string[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  if (start === old.length && start === now.length) return [];
  const end = old.length - same;
  return [
    ...marked(' ', old.slice(Math.max(0, start - CONTEXT), start)),
    ...marked('-', old.slice(start, end)),
    ...marked('+', now.slice(start, now.length - same)),
    ...marked(' ', old.slice(end, end + CONTEXT)),
  ];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${mark}${escapeInvisible(line)}`);
}
