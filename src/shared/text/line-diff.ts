import { structuredPatch } from 'diff';

/** The search takes time by lines and changes. Texts that differ in more lines are shown whole. */
const MAX_CHANGED_LINES = 2000;

/** Lines that changed, with those around them. */
export interface Hunk {
  /** `-1,9 +1,3`, as `diff -u` writes it. */
  range: string;
  lines: { mark: ' ' | '-' | '+'; text: string }[];
}

/**
 * How two texts differ. `shown`: the lines to print for those of each text, such as the lines without their secrets; a
 * difference in a secret is still one.
 */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
  context: number,
  shown: (lines: readonly string[]) => readonly string[] = (lines) => lines,
): Hunk[] {
  const [oldText, newText] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(''));
  const options = { context, maxEditLength: MAX_CHANGED_LINES };
  const patch = structuredPatch('', '', oldText!, newText!, undefined, undefined, options);
  const all = {
    ...{ oldStart: 1, oldLines: before.length, newStart: 1, newLines: after.length },
    lines: [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)],
  };
  const [old, now] = [shown(before), shown(after)];
  return (patch?.hunks ?? [all]).map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    let [oldIndex, newIndex] = [oldStart - 1, newStart - 1];
    return {
      range: `-${rangeOf(oldStart, oldLines)} +${rangeOf(newStart, newLines)}`,
      lines: lines.map((line) => {
        const mark = line[0] as ' ' | '-' | '+';
        const text = mark === '+' ? now[newIndex] : old[oldIndex];
        if (mark !== '-') newIndex++;
        if (mark !== '+') oldIndex++;
        return { mark, text: text ?? '' };
      }),
    };
  });
}

/** `diff -u` gives an empty range the line before it. */
function rangeOf(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}
